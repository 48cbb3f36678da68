/** The endpoints of the emulator's control host. Paths are below `/_rewards`. */
import { openApiDocument } from '../endpoint.ts';
import { aliasUser, listAliases, removeAlias } from './aliases.ts';
import {
  brandDns,
  createBrand,
  listBrands,
  removeRule,
  rotateKey,
  setBrand,
  setRule,
  showBrand,
} from './brands.ts';
import { chainEndpoints } from './chain.ts';
import { clockEndpoints } from './clock.ts';
import { constraintEndpoints } from './constraints.ts';
import { type ControlEndpoint, endpoint } from './control-endpoint.ts';
import { faultEndpoints } from './faults.ts';
import { showBoardHistory, showHistory } from './history.ts';
import { inboxEndpoints } from './inbox.ts';
import { jobEndpoints } from './jobs.ts';
import { fundBrand, mintByHand, mintOfSession, showTotals, verify } from './mints.ts';
import { showOverview } from './overview.ts';
import { perkEndpoints } from './perks.ts';
import { processorEndpoints } from './processor.ts';
import { showRelay } from './relay.ts';
import { dryRunEvent, listRequests, replayRequest, sendEvent, showRequest } from './requests.ts';
import { seed } from './seed.ts';
import { siteEndpoints } from './site.ts';
import { snapshotEndpoints } from './snapshots.ts';
import { issueToken, listUsers, rotateTokenKeys, showUser, showWallet, verifyToken } from './users.ts';
import { webhookEndpoints } from './webhooks.ts';

export const controlOpenapi = endpoint('GET /openapi.json', {
  id: 'controlOpenapi',
  tag: 'Description',
  open: true,
  summary: 'As OpenAPI 3.1',
  answer: { description: 'An OpenAPI document.', body: openApiDocument },
});

export const controlDocs = endpoint('GET /docs', {
  id: 'controlDocs',
  tag: 'Description',
  open: true,
  summary: 'As a page',
  answer: { description: 'A self-contained page.', contentType: 'text/html' },
});

export const controlEndpoints: readonly ControlEndpoint[] = [
  showOverview,
  showHistory,
  ...clockEndpoints,
  listRequests,
  showRequest,
  replayRequest,
  sendEvent,
  dryRunEvent,
  listBrands,
  createBrand,
  showBrand,
  showBoardHistory,
  setBrand,
  setRule,
  removeRule,
  listAliases,
  aliasUser,
  removeAlias,
  rotateKey,
  fundBrand,
  brandDns,
  seed,
  issueToken,
  verifyToken,
  rotateTokenKeys,
  showWallet,
  listUsers,
  showUser,
  ...inboxEndpoints,
  ...jobEndpoints,
  mintByHand,
  mintOfSession,
  ...processorEndpoints,
  ...webhookEndpoints,
  showRelay,
  ...chainEndpoints,
  ...perkEndpoints,
  ...constraintEndpoints,
  ...siteEndpoints,
  ...faultEndpoints,
  ...snapshotEndpoints,
  verify,
  showTotals,
  controlOpenapi,
  controlDocs,
];
