/** A brand's client of the service: what a shop's server needs of it. */

/** `settings`: where the service is, and which brand asks; `rewards exec` and `rewards env` give them as variables. */
export function createRewards(settings = fromEnvironment()) {
  const { url, brandId, domain } = settings;
  const post = async (path, body) => {
    const response = await fetch(`${url}/rewards-api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    /** Tells of a customer's event; resolves with the reward, or with why there is none. */
    async send(eventType, userEmail, metadata) {
      const event = { brandId, eventType, userEmail, domain, ...(metadata && { metadata }) };
      const { status, body } = await post('/manual-event', event);
      if (status === 200)
        return { rewarded: true, amount: body.rewardAmount, transaction: body.transactionHash };
      return { rewarded: false, why: body.error, status };
    },
    /** What a user has. */
    async balance(userIdentifier) {
      const { status, body } = await post('/user-balance', { brandId, userIdentifier });
      if (status !== 200) throw new Error(body.error);
      return Number(body.balance);
    },
  };
}

function fromEnvironment() {
  const { REWARDS_EVENT_HANDLER_URL, REWARDS_BRAND_ID, REWARDS_DOMAIN } = process.env;
  if (!REWARDS_EVENT_HANDLER_URL) throw new Error('run this with `rewards exec -- npm test`');
  return { url: REWARDS_EVENT_HANDLER_URL, brandId: REWARDS_BRAND_ID, domain: REWARDS_DOMAIN };
}
