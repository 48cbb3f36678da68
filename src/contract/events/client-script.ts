/** GET /sdk.js (contract: Endpoints). */

import type { Endpoint } from '../endpoint.ts';
import { CACHE_HEADER_NAMES, ifNoneMatch, unchanged } from '../headers.ts';
import { anywhere } from '../shared-refusals.ts';
import type { EventsRefusalCode } from './refusals.ts';

export const clientScriptEndpoint: Endpoint<EventsRefusalCode> = {
  id: 'clientScript',
  tag: 'Events',
  method: 'get',
  path: '/sdk.js',
  summary: 'The client script',
  description:
    'Notices events on the pages of a brand and sends them: `<script async src="…/sdk.js" data-brand-id="0x…"></script>`.',
  parameters: [ifNoneMatch],
  examples: [{ summary: 'The script' }],
  answers: {
    200: { description: 'The script.', contentType: 'text/javascript', headers: CACHE_HEADER_NAMES },
    304: unchanged,
  },
  refusals: anywhere,
};
