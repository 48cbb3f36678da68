/** `rewards webhooks sign|verify` as a shell sees them; signatures are compared with other people's libraries. */
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rewards, rewardsJson, temporaryDirectory } from '../kits/service/cli.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;
const CREATED = 1_893_456_000;
const AT = '2030-01-01T00:00:00Z';
const event = {
  id: 'evt_1',
  object: 'event',
  created: CREATED,
  data: { object: { name: 'Zoë, 5 € / day' } },
};
/** As the processor sends it: indented by two spaces. */
const BODY = JSON.stringify(event, null, 2);

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  folder = await temporaryDirectory();
});
afterAll(() => folder.remove());

/** Signs `body` at `timestamp`; the headers as printed. */
async function signed(body = BODY, ...more: string[]): Promise<Record<string, string>> {
  const args = ['webhooks', 'sign', '-', '--secret', SECRET, '--timestamp', String(CREATED), ...more];
  return (await rewardsJson(args, { stdin: body })).envelope.data.headers;
}

/** Verifies `body` as the file that a receiver kept; the verdict on the only signature. */
async function verified(
  body: string | Uint8Array,
  header: string,
  { secret = SECRET, at = AT, more = [] as string[] } = {},
) {
  await writeFile(join(folder.path, 'body'), body);
  const args = ['webhooks', 'verify', 'body', '--secret', secret, '--at', at, '-H', header, ...more];
  const { code, envelope } = await rewardsJson(args, { cwd: folder.path });
  return { code, ...envelope.data.signatures[0], error: envelope.error };
}

describe('sign', () => {
  test('makes signatures that the stripe and standardwebhooks packages and ten lines of a receiver take', async () => {
    const now = Math.floor(Date.now() / 1_000);
    const headers = await signed(BODY, '--timestamp', String(now));
    for (const name of ['Stripe-Signature', 'X-Service-Signature-Timestamped'])
      expect(Stripe.webhooks.constructEvent(BODY, headers[name] ?? '', SECRET)).toEqual(event);
    expect(new Webhook(SECRET).verify(BODY, headers)).toEqual(event);
    expect(headers['X-Service-Signature']).toBe(createHmac('sha256', SECRET).update(BODY).digest('hex'));
    expect(headers['webhook-id']).toBe('evt_1');
  });

  test('prints header lines, of one side where only one is wanted', async () => {
    const args = ['webhooks', 'sign', '-', '--secret', SECRET, '--timestamp', AT, '--scheme', 'processor'];
    const { code, stdout } = await rewards(args, { stdin: BODY });
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Stripe-Signature: t=${CREATED},v1=[0-9a-f]{64}\n$`));
    const ours = await signed(BODY, '--scheme', 'service', '--id', 'msg_7');
    expect(Object.keys(ours)).not.toContain('Stripe-Signature');
    expect(ours['webhook-id']).toBe('msg_7');
  });

  test('has only the signature of the processor for a secret that this service would not make, and says so', async () => {
    const finished = await rewards(['webhooks', 'sign', '-', '--secret', 'not base64!'], { stdin: BODY });
    expect(finished.stdout).toMatch(/^Stripe-Signature: .*\n$/);
    expect(finished.stderr).toContain('the secret is not whsec_ and base64');
  });

  test('asks for a secret, and takes it from the environment', async () => {
    const without = await rewards(['webhooks', 'sign', '-'], { stdin: BODY });
    expect(without.code).toBe(2);
    expect(without.stderr).toContain('REWARDS_WEBHOOK_SECRET');
    const env = { REWARDS_WEBHOOK_SECRET: SECRET };
    expect((await rewards(['webhooks', 'sign', '-'], { stdin: BODY, env })).code).toBe(0);
  });
});

describe('verify', () => {
  test('says yes to each form of a signature', async () => {
    const headers = await signed();
    for (const name of ['Stripe-Signature', 'X-Service-Signature', 'X-Service-Signature-Timestamped']) {
      const verdict = await verified(BODY, `${name}: ${headers[name]}`);
      expect(verdict).toMatchObject({ code: 0, verifies: true, header: name.toLowerCase(), failed: null });
    }
    const [id, time] = ['webhook-id', 'webhook-timestamp'].map((name) => ['-H', `${name}: ${headers[name]}`]);
    const more = [...(id ?? []), ...(time ?? [])];
    const verdict = await verified(BODY, `webhook-signature: ${headers['webhook-signature']}`, { more });
    expect(verdict).toMatchObject({ code: 0, verifies: true, scheme: 'standard-webhooks' });
  });

  test('knows the header of a new secret while the old one is valid', async () => {
    const { 'X-Service-Signature': bare } = await signed();
    const verdict = await verified(BODY, `X-Service-Signature-Next: ${bare}`);
    expect(verdict).toMatchObject({ verifies: true, header: 'x-service-signature-next' });
  });

  test.each([
    ['a newline at its end', `${BODY}\n`, 'a newline was added at its end'],
    ['a byte order mark', `\uFEFF${BODY}`, 'a byte order mark came before it'],
    ['CRLF', BODY.replaceAll('\n', '\r\n'), 'its line ends became CRLF'],
    ['JSON.stringify', JSON.stringify(event), 'parsed and written again; the sender’s was indented by two'],
    ['a pretty printer', JSON.stringify(event, null, 4), 'parsed and written again'],
  ])('tells a body that was altered: %s', async (_, altered, said) => {
    const { 'Stripe-Signature': signature, 'X-Service-Signature': bare } = await signed();
    for (const header of [`Stripe-Signature: ${signature}`, `X-Service-Signature: ${bare}`]) {
      const verdict = await verified(altered, header);
      expect(verdict).toMatchObject({ code: 1, verifies: false, failed: { part: 'body' } });
      expect(verdict.failed.message).toContain(said);
      expect(verdict.error).toMatchObject({ code: 'E_SIGNATURE', details: { part: 'body' } });
    }
  });

  test.each([
    ['five minutes ago', 300, null],
    ['a second more', 301, 'it was signed 5m1s ago'],
    ['five minutes ahead', -300, null],
    ['a second further ahead', -301, 'it was signed 5m1s in the future'],
  ])('holds the timestamp to the tolerance: %s', async (_, ageSeconds, said) => {
    const { 'Stripe-Signature': signature } = await signed();
    const at = new Date((CREATED + ageSeconds) * 1_000).toISOString();
    const verdict = await verified(BODY, `Stripe-Signature: ${signature}`, { at });
    expect(verdict).toMatchObject({ verifies: said === null, ageSeconds });
    if (said === null) return expect(verdict.failed).toBeNull();
    expect(verdict.failed).toMatchObject({ part: 'timestamp', right: ['scheme', 'secret', 'body'] });
    expect(verdict.failed.message).toContain(said);
  });

  test('tells a timestamp that was altered from one that is old', async () => {
    const { 'Stripe-Signature': signature = '' } = await signed();
    const header = `Stripe-Signature: ${signature.replace(/t=\d+/, `t=${CREATED + 86_400}`)}`;
    const verdict = await verified(BODY, header, { at: '2030-01-02T00:00:00Z' });
    expect(verdict.failed).toMatchObject({ part: 'timestamp' });
    expect(verdict.failed.message).toContain(`the signature is of ${CREATED}`);
  });

  test.each([
    ['white space', `${SECRET} `, 'white space around it'],
    ['no whsec_', SECRET.slice(6), 'lacks whsec_'],
  ])('tells a secret that was copied carelessly: %s', async (_, secret, said) => {
    const { 'Stripe-Signature': signature } = await signed();
    const verdict = await verified(BODY, `Stripe-Signature: ${signature}`, { secret });
    expect(verdict.failed).toMatchObject({ part: 'secret' });
    expect(verdict.failed.message).toContain(said);
  });

  test('does not claim to know whether another secret or changed values are to blame', async () => {
    const { 'Stripe-Signature': signature } = await signed();
    const header = `Stripe-Signature: ${signature}`;
    const otherSecret = await verified(BODY, header, { secret: 'whsec_b3RoZXI=' });
    const otherValue = await verified(BODY.replace('evt_1', 'evt_2'), header);
    for (const { failed } of [otherSecret, otherValue]) expect(failed.part).toBe('secret or body');
  });

  test.each([
    [
      'the bare digest in the processor’s header',
      'Stripe-Signature',
      'bare',
      'holds a bare digest of the body',
    ],
    ['the digest of other schemes in ours', 'X-Service-Signature', 'foreign', 'no digest of the right form'],
    ['GitHub’s prefix', 'X-Service-Signature', 'prefixed', 'no digest of the right form'],
  ])('tells a wrong scheme: %s', async (_, name, form, said) => {
    const { 'X-Service-Signature': bare, 'Stripe-Signature': timed } = await signed();
    const value = { bare, foreign: timed, prefixed: `sha256=${bare}` }[form];
    const verdict = await verified(BODY, `${name}: ${value}`);
    expect(verdict.failed).toMatchObject({ part: 'scheme' });
    expect(verdict.failed.message).toContain(said);
  });

  test('tells a key that was made as another scheme makes it', async () => {
    const key = Buffer.from(SECRET.slice(6), 'base64');
    const digest = createHmac('sha256', key).update(`${CREATED}.${BODY}`).digest('hex');
    const verdict = await verified(BODY, `Stripe-Signature: t=${CREATED},v1=${digest}`);
    expect(verdict.failed).toMatchObject({ part: 'scheme', right: ['secret', 'body'] });
  });

  test('--explain has a line for each part, and no secret', async () => {
    const { 'Stripe-Signature': signature = '' } = await signed();
    const args = ['webhooks', 'verify', '-', '--secret', SECRET, '--signature', signature, '--at', AT];
    const yes = await rewards([...args, '--explain'], { stdin: BODY });
    expect(yes.stdout).toMatch(/verifies\n {2}✓ scheme.*\n {2}✓ secret.*\n {2}✓ body.*\n {2}✓ timestamp/);
    const no = await rewards([...args, '--explain'], { stdin: `${BODY}\n` });
    expect(no).toMatchObject({ code: 1, stdout: '' });
    expect(no.stderr).toMatch(/✓ secret.*\n {2}✗ body +the body was altered on its way: a newline/);
    expect(no.stderr).not.toContain(SECRET.slice(0, 12));
  });

  test.each([
    [['-H', 'Content-Type: application/json'], 'None of the headers is a signature'],
    [['-H', 'nonsense'], 'is not a header'],
    [[], 'There is no signature to verify'],
    [['--signature', 'v1,aaaa'], 'covers its id and timestamp'],
  ])('%j: usage, and what to give', async (args, said) => {
    const finished = await rewards(['webhooks', 'verify', '-', '--secret', SECRET, ...args], { stdin: BODY });
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain(said);
  });

  test('a body that is not text is refused as a file', async () => {
    await writeFile(join(folder.path, 'bytes'), Uint8Array.of(0xff, 0xfe));
    const args = ['webhooks', 'sign', 'bytes', '--secret', SECRET];
    const { code, stderr } = await rewards(args, { cwd: folder.path });
    expect({ code, said: stderr.includes('bytes is not UTF-8') }).toEqual({ code: 2, said: true });
  });
});
