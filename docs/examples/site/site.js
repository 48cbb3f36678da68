// A shop of its own, on plain node:http, with the rewards plugin beside its pages.
// Start `npx rewards serve`, then `node docs/examples/site/site.js`, and open http://localhost:3000/bread.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createSite } from 'rewards/site';

const { env } = process;
const url = env.BAKERY_URL ?? 'http://localhost:3000';
const service = env.REWARDS_EVENT_HANDLER_URL ?? 'http://127.0.0.1:8787';

const site = createSite({
  url,
  name: 'The Corner Bakery',
  brandId: env.REWARDS_BRAND_ID ?? '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  eventHandlerUrl: service,
  servicesUrl: env.REWARDS_SERVICES_URL ?? service,
  domain: 'demo.example', // as the brand has it; else the host of `url`
  store: env.BAKERY_STORE ?? 'bakery.sqlite',
});
if (!site.findUser('ada')) {
  await site.addUser({ login: 'ada', email: 'ada@bakery.example', password: 'bread-and-butter' });
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '/', url);
  const show = (/** @type {number} */ status, /** @type {string} */ body) =>
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
      .end(
        `<!doctype html><html lang="en"><title>Bread</title>${site.headTags(request)}<main>${body}</main></html>`,
      );

  if (pathname === '/bread' && request.method === 'GET') {
    const page = `<h1>Rye bread, 4 dollars</h1>
      <form method="post"><label>Your e-mail <input name="email" type="email" required></label>
      <button>Buy</button></form>
      [rewards_balance] [rewards_leaderboard period="all" limit="3"]`;
    return show(200, await site.expandShortcodes(page, request));
  }
  if (pathname === '/bread' && request.method === 'POST') {
    if (request.headers.origin !== new URL(url).origin) return show(403, 'Please order on our own page.');
    if (!(Number(request.headers['content-length']) <= 1_000))
      return show(413, 'That is more than an e-mail.');
    const email = new URLSearchParams(await text(request)).get('email') ?? '';
    // The order is the shop's own; the plugin hears that it was paid.
    const [call] = await site.fire('order_completed', { email, metadata: { order_total: 4 } });
    return show(200, call?.success ? `Thank you: ${call.reward} RWT are yours.` : 'Thank you.');
  }
  // Everything else is the plugin's: login, dashboard, REST API, share button.
  return site.listener(request, response);
});

server.listen(Number(new URL(url).port || 80), () => process.stdout.write(`open ${url}/bread\n`));
process.once('SIGTERM', () => server.close(() => site.close()));
