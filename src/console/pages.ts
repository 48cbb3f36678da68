/** The console's pages, in the order of its navigation; a page's file lies in the room of what it shows. */
import type { ConsolePage } from './page.ts';
import { apiReference } from './pages/api-reference.tsx';
import { block } from './pages/block.tsx';
import { brand } from './pages/brand.tsx';
import { brands } from './pages/brands.tsx';
import { chain } from './pages/chain.tsx';
import { figures } from './pages/figures.tsx';
import { job } from './pages/jobs/job.tsx';
import { load } from './pages/jobs/load.tsx';
import { recording } from './pages/jobs/recording.tsx';
import { scenarios } from './pages/jobs/scenarios.tsx';
import { overview } from './pages/overview.tsx';
import { payment } from './pages/payments/payment.tsx';
import { payments } from './pages/payments/payments.tsx';
import { relay } from './pages/relay.tsx';
import { request } from './pages/request.tsx';
import { requests } from './pages/requests.tsx';
import { snapshot } from './pages/snapshot.tsx';
import { time } from './pages/time.tsx';
import { transaction } from './pages/transaction.tsx';
import { user } from './pages/user.tsx';
import { users } from './pages/users.tsx';
import { webhookEndpoint } from './pages/webhooks/endpoint.tsx';
import { inbox } from './pages/webhooks/inbox.tsx';
import { webhook } from './pages/webhooks/webhook.tsx';
import { webhooks } from './pages/webhooks/webhooks.tsx';

export const pages: readonly ConsolePage[] = [
  overview,
  requests,
  request,
  users,
  user,
  brands,
  brand,
  payments,
  payment,
  webhooks,
  // Before `/webhooks/:id`, which its address would fit as well.
  inbox,
  webhook,
  webhookEndpoint,
  relay,
  chain,
  block,
  transaction,
  figures,
  time,
  snapshot,
  scenarios,
  recording,
  load,
  job,
  apiReference,
];

/** What an operator has beside a first page: what a ledger answers without a service, and nothing that only an emulator has. */
export const operatorPages: readonly ConsolePage[] = [
  requests,
  request,
  webhooks,
  webhook,
  webhookEndpoint,
  relay,
];
