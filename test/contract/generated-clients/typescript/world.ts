/** What the calls need to know of the running stack, and what they cannot do through its public endpoints. */
import { readFile, writeFile } from 'node:fs/promises';
import type { components } from './relay.js';

interface Known {
  events: string;
  register: string;
  relay: string;
  services: string;
  control: string;
  controlToken: string;
  brandId: string;
  domain: string;
  apiKey: string;
  userToken: string;
  /** An e-mail that has earned nothing yet. */
  person: string;
  /** A user of Discord of whom nobody has heard. */
  platformUser: string;
  perkId: string;
  relayCall: components['schemas']['RelayRequest'];
}

const known: Known = JSON.parse(await readFile('world.json', 'utf8'));

export const world = {
  ...known,
  /** Pays for a session, as its buyer would on the processor's page. */
  async pay(session: string) {
    const paid = await fetch(`${known.control}/processor/sessions/${session}/pay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${known.controlToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ webhook: false }),
    });
    if (!paid.ok) throw new Error(`not paid: ${await paid.text()}`);
  },
  tell: (answers: unknown) => writeFile('answers.json', JSON.stringify(answers)),
};
