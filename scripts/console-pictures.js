/** Pictures of the console for docs/images, in light and dark. */
import { writeFile } from 'node:fs/promises';
import { inBothColours } from './browser-pictures.js';

const VIEWPORT = { width: 1_000, height: 900 };

/** `control`: the banner's link; `shown`: runs a command, so that pages have something to show. */
export async function drawConsole({ control, images, shown }) {
  const send = (type, user) => shown('send-event', type, '--user', `${user}@demo.example`);
  for (const user of ['alice', 'bob', 'carol']) await send('form_submit', user);
  await send('form_submit', 'bob');
  const [id] = /req_\w+/.exec(await shown('requests', 'show', 'latest')) ?? [];
  if (!id) throw new Error('no request is listed');
  const at = (path) => control.replace(/\/_rewards\/?/, `/_rewards${path}`);
  const pages = { overview: '/', request: `/console/requests/${id}`, time: '/console/time' };
  for (const [name, path] of Object.entries(pages))
    await writeFile(new URL(`console-${name}.png`, images), await inBothColours(at(path), VIEWPORT));
  await send('form_submit', 'dora');
  // Last, since it moves the clock.
  for (const isActive of DAYS) {
    if (isActive) await shown('streak', 'check-in', 'dora@demo.example');
    await shown('clock', 'advance', '1d');
  }
  await shown('streak', 'check-in', 'dora@demo.example');
  const user = await inBothColours(at('/console/users/dora@demo.example'), VIEWPORT);
  await writeFile(new URL('console-user.png', images), user);
}

/** A streak that ended, and one that goes on. */
const DAYS = [...'111111100110111111111111'].map((one) => one === '1');
