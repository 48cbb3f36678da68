/** The whole error table of the control host: the same form everywhere, with a reason that programs can rely on. */
import type { SettingProblem } from '../../../rules/brands/settings.ts';
import { SINCE_MUST_BE } from '../../../rules/since.ts';
import { demo } from '../../examples.ts';
import { type RefusalRows, refusalTable } from '../../refusals.ts';
import { type RefusalBody, refusalForm, requestRefusals } from '../../shared-refusals.ts';
import { type JobRefusal, jobRefusals } from './job-refusals.ts';
import { type SnapshotRefusal, snapshotRefusals } from './snapshot-refusals.ts';

/** Why the clock cannot be moved to where a condition holds. */
export type ConditionWhy = 'not_found' | 'ambiguous' | 'already_passed' | 'never';

export type ControlRefusal =
  | { code: 'foreign_host' }
  | { code: 'token_missing'; guards: 'host' | 'secrets' }
  | { code: 'invalid_clock_change'; message: string; fix: string }
  | { code: 'condition_not_ahead'; why: ConditionWhy; message: string; fix: string }
  | { code: 'invalid_filter' }
  | { code: 'request_not_found'; name: string }
  | { code: 'request_ambiguous'; name: string; count: number; ids: string[] }
  | { code: 'not_replayable'; id: string; why: string; fix?: string | undefined }
  | { code: 'not_sent'; why: string; fix?: string | undefined }
  | { code: 'invalid_body' }
  | { code: 'body_too_large'; limitBytes: number; bytes: number }
  | { code: 'unsupported_encoding'; coding: string }
  | { code: 'invalid_settings'; problems: SettingProblem[] }
  | { code: 'invalid_fixture'; problems: string[] }
  | { code: 'brand_not_found'; name: string }
  | { code: 'rule_not_found'; brandId: string; eventType: string }
  | { code: 'brand_exists'; brandId: string }
  | { code: 'perk_not_found'; name: string }
  | { code: 'redemption_not_found'; name: string }
  | { code: 'redemption_not_waiting'; name: string; state: 'sent' | 'redeemed' | 'failed' }
  | { code: 'wallet_not_found'; user: string }
  | { code: 'processor_object_not_found'; kind: 'session' | 'event' | 'delivery' | 'endpoint'; name: string }
  | { code: 'node_unavailable'; why: string }
  | { code: 'block_not_found'; number: number; head: number }
  | { code: 'transaction_not_found'; hash: string; isStored: boolean }
  | { code: 'processor_refused'; message: string; reason: string | null }
  | { code: 'webhook_endpoint_not_found'; id: string }
  | { code: 'webhook_event_not_found'; id: string }
  | { code: 'hook_not_found'; hook: string; hooks: readonly string[] }
  | { code: 'site_user_not_found'; name: string }
  | { code: 'fault_not_found'; name: string }
  | JobRefusal
  | SnapshotRefusal
  | { code: 'invalid_limit'; limitMax: number }
  | { code: 'invalid_since'; since: string }
  | { code: 'unknown_endpoint'; method: string; path: string }
  | { code: 'method_not_allowed'; method: string; path: string; allowed: readonly string[] }
  | { code: 'database_unavailable' }
  | { code: 'database_busy' }
  | { code: 'internal_error' };
export type ControlRefusalCode = ControlRefusal['code'];

const { brandId } = demo;

const PROCESSOR_LISTS = {
  session: 'sessions',
  event: 'events',
  delivery: 'deliveries',
  endpoint: 'endpoints',
};

/** What became of a redemption that cannot be dropped. */
const NOT_WAITING = {
  sent: 'A transaction carries it: its block decides, and nothing can be taken back until then.',
  redeemed: 'A block shows it: the user has the perk.',
  failed: 'It came to nothing already, and nothing was debited.',
};

const rows: RefusalRows<ControlRefusal> = {
  foreign_host: {
    status: 403,
    when: 'the Host header names another host, or a page of another site sends the request',
    says: { error: 'Forbidden', message: 'The control API answers only to this machine.' },
  },
  token_missing: {
    status: 401,
    when: 'the control token is missing or wrong',
    example: { guards: 'host' },
    says: ({ guards }) => ({
      error: 'Unauthorized',
      message:
        guards === 'host'
          ? 'Send `Authorization: Bearer <controlToken>` from the ready line; a browser opens the link of the banner.'
          : 'The record holds a token: send `Authorization: Bearer <controlToken>`.',
    }),
  },
  invalid_clock_change: {
    status: 400,
    when: 'the clock cannot make the change that the body asks for',
    example: {
      message: 'The body asks for no single change of the clock',
      fix: 'Send one of {"advance":"61s"}, {"set":"2030-01-01T00:00:00Z"}, {"freeze":true}, {"until":"cooldown:alice@demo.example/purchase"}.',
    },
    says: ({ message, fix }) => ({
      error: message,
      message: fix,
      details: { reason: 'invalid_clock_change' },
    }),
  },
  condition_not_ahead: {
    status: 409,
    when: 'what `until` names is not ahead: it is unknown, over, or comes never',
    example: {
      why: 'not_found',
      message: 'No user nobody@demo.example has a wallet, so no cooldown holds them up',
      fix: 'Name an e-mail, an address or <platform>:<id>; `rewards requests list` shows who sent events.',
    },
    says: ({ why, message, fix }) => ({
      error: message,
      message: fix,
      details: { reason: 'condition_not_ahead', why },
    }),
  },
  invalid_filter: {
    status: 400,
    when: 'the query has a filter that the log does not know, or a wrong value',
    says: {
      error: 'Invalid filter',
      message:
        'Use status=429 or status=4xx, host=events|register|services|relay, brand, decision, method, path, user, after=<id>, limit=1..500.',
    },
  },
  request_not_found: {
    status: 404,
    when: 'the log has no such request',
    example: { name: 'req_none' },
    says: ({ name }) => ({
      error: `No request ${name}`,
      message: 'The log keeps only the latest requests; `rewards requests list` shows them.',
      details: { reason: 'request_not_found' },
    }),
  },
  request_ambiguous: {
    status: 409,
    when: 'several ids begin like this',
    example: { name: 'req_6', count: 2, ids: ['req_661c136a55acc3b5ccc8', 'req_66d01f7b12e04a9c3388'] },
    says: ({ name, count, ids }) => ({
      error: `${name} may be any of ${count} requests`,
      message: `Give more of the id: ${ids.join(', ')}`,
      details: { reason: 'request_ambiguous', ids },
    }),
  },
  not_replayable: {
    status: 409,
    when: 'the log does not have all of the request, or its credential cannot be had again',
    example: { id: 'req_661c136a55acc3b5ccc8', why: 'its signature is not kept' },
    says: ({ id, why, fix }) => ({
      error: `${id} cannot be sent again: ${why}`,
      message: fix ?? 'Send it anew with `rewards send-event`, or from where it came.',
      details: { reason: 'not_replayable' },
    }),
  },
  not_sent: {
    status: 409,
    when: 'the stack is not open, the service refused it, or the key that it should go with is not known',
    example: { why: "the brand's API key is not known here" },
    says: ({ why, fix }) => ({
      error: `Nothing came of it: ${why}`,
      message: fix ?? 'Send it with `rewards send-event` or `rewards checkout create`, which say more.',
      details: { reason: 'not_sent' },
    }),
  },
  invalid_body: {
    status: 400,
    when: 'the body is not a JSON object',
    says: { error: 'Invalid body', message: 'Send one JSON object with the settings by name.' },
  },
  body_too_large: {
    status: 413,
    when: 'what is sent to the inbox has more than 64 KB',
    example: { limitBytes: 65_536, bytes: 65_537 },
    says: ({ limitBytes, bytes }) => ({
      error: 'Payload too large',
      message: `The body has ${bytes} bytes or more, and at most ${limitBytes} are taken.`,
      details: { maxBytes: limitBytes, bytes },
    }),
  },
  unsupported_encoding: {
    ...requestRefusals.unsupported_encoding,
    when: 'what is sent to the inbox is compressed',
  },
  invalid_settings: {
    status: 400,
    when: 'a setting is unknown or has a wrong value',
    example: { problems: [{ setting: 'automation', message: 'must be on or off, not "maybe"' }] },
    says: ({ problems }) => ({
      error: 'Invalid settings',
      message: problems.map(({ setting, message }) => `${setting} ${message}`).join('; '),
      details: { reason: 'invalid_settings', problems },
    }),
  },
  invalid_fixture: {
    status: 400,
    when: 'a seed file does not fit its schema, or the ledger',
    example: { problems: ['shop.yaml:3:5 brands.0.domains: must be a list of domains'] },
    says: ({ problems }) => ({
      error: problems.join('\n'),
      message: 'Correct the named lines; fixtures/demo.yaml shows every field.',
      details: { reason: 'invalid_fixture', problems },
    }),
  },
  brand_not_found: {
    status: 404,
    when: 'there is no such brand',
    example: { name: 'nobody.example' },
    says: ({ name }) => ({
      error: `Brand not found: ${name}`,
      message: 'Name it by its id or by one of its domains; `rewards brand list` shows all.',
      details: { reason: 'brand_not_found' },
    }),
  },
  rule_not_found: {
    status: 404,
    when: 'the brand has no such rule',
    example: { brandId, eventType: 'custom_unknown' },
    says: ({ brandId, eventType }) => ({
      error: `Brand ${brandId} has no rule for ${eventType}`,
      message: '`rewards brand show` lists the rules it has.',
      details: { reason: 'rule_not_found' },
    }),
  },
  brand_exists: {
    status: 409,
    when: 'the brand exists already',
    example: { brandId },
    says: ({ brandId }) => ({
      error: `Brand ${brandId} exists already`,
      message: 'Change it with `rewards brand set`.',
      details: { reason: 'brand_exists' },
    }),
  },
  perk_not_found: {
    status: 404,
    when: 'no brand has such a perk',
    example: { name: '17' },
    says: ({ name }) => ({
      error: `Perk not found: ${name}`,
      message: 'Name it by its id or its token; `rewards perks list` shows all.',
      details: { reason: 'perk_not_found' },
    }),
  },
  redemption_not_found: {
    status: 404,
    when: 'the ledger has no redemption of this id',
    example: { name: '019aac5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f' },
    says: ({ name }) => ({
      error: `No redemption ${name}`,
      message: 'GET /_rewards/redemptions lists them; `rewards redemptions list` prints their ids.',
      details: { reason: 'redemption_not_found' },
    }),
  },
  redemption_not_waiting: {
    status: 409,
    when: 'a transaction carries the redemption already, or it is over',
    example: { name: '019aac5e-7a1b-7c3d-8e9f-0a1b2c3d4e5f', state: 'sent' },
    says: ({ name, state }) => ({
      error: `The redemption ${name} does not wait`,
      message: NOT_WAITING[state],
      details: { reason: 'redemption_not_waiting', state },
    }),
  },
  wallet_not_found: {
    status: 404,
    when: 'no user of that name has a wallet',
    example: { user: 'nobody@demo.example' },
    says: ({ user }) => ({
      error: `No wallet of ${user}`,
      message:
        'Name an e-mail, an address or <platform>:<id>; a wallet comes with the first reward or login.',
      details: { reason: 'wallet_not_found' },
    }),
  },
  processor_object_not_found: {
    status: 404,
    when: 'the emulated processor has no such session, event, delivery or endpoint',
    example: { kind: 'session', name: 'cs_test_none' },
    says: ({ kind, name }) => ({
      error: `No ${kind} ${name}`,
      message: `GET /_rewards/processor/${PROCESSOR_LISTS[kind]} lists what there is.`,
      details: { reason: 'processor_object_not_found' },
    }),
  },
  node_unavailable: {
    status: 503,
    when: 'the node of the chain gives no usable answer in time',
    example: { why: 'no answer in 4 seconds' },
    says: ({ why }) => ({
      error: `The node does not answer: ${why}`,
      message: 'Try again; `rewards faults list` says whether it fails on purpose.',
      details: { reason: 'node_unavailable' },
    }),
  },
  block_not_found: {
    status: 404,
    when: 'the chain has no such block yet',
    example: { number: 12, head: 7 },
    says: ({ number, head }) => ({
      error: `There is no block ${number} yet: the newest is ${head}`,
      message: '`rewards chain blocks` lists them.',
      details: { reason: 'block_not_found', head },
    }),
  },
  transaction_not_found: {
    status: 404,
    when: 'the node knows no such transaction',
    example: { hash: `0x${'0'.repeat(64)}`, isStored: false },
    says: ({ hash, isStored }) => ({
      error: `No transaction ${hash}`,
      message: isStored
        ? 'The ledger has it, and the node does not: it is in no block, or its block was taken back.'
        : 'Neither the node nor the ledger knows it; `rewards chain blocks` lists what there is.',
      details: { reason: 'transaction_not_found' },
    }),
  },
  processor_refused: {
    status: 409,
    when: 'the emulated processor refuses: the session is paid or has expired, or no money is left to go back',
    example: {
      message: 'The session cs_test_a1 has expired: nothing can be paid any more',
      reason: 'checkout_session_expired',
    },
    says: ({ message, reason }) => ({
      error: message,
      message: 'GET /_rewards/processor/sessions shows how each session stands.',
      details: { reason: 'processor_refused', code: reason },
    }),
  },
  webhook_endpoint_not_found: {
    status: 404,
    when: 'there is no such endpoint',
    example: { id: 'we_none' },
    says: ({ id }) => ({
      error: `No webhook endpoint ${id}`,
      message: '`rewards webhooks endpoints list` shows all.',
      details: { reason: 'webhook_endpoint_not_found' },
    }),
  },
  webhook_event_not_found: {
    status: 404,
    when: 'the log has no such event',
    example: { id: 'evt_none' },
    says: ({ id }) => ({
      error: `No webhook ${id}`,
      message: 'The log keeps 30 days; `rewards webhooks deliveries` shows them.',
      details: { reason: 'webhook_event_not_found' },
    }),
  },
  hook_not_found: {
    status: 404,
    when: 'the site has no such hook',
    example: { hook: 'page_opened', hooks: ['page_load', 'login'] },
    says: ({ hook, hooks }) => ({
      error: `The site has no hook ${hook}`,
      message: `Its hooks are ${hooks.join(', ')}.`,
      details: { reason: 'hook_not_found', hooks },
    }),
  },
  site_user_not_found: {
    status: 404,
    when: 'the site has no user of that name',
    example: { name: 'nobody' },
    says: ({ name }) => ({
      error: `The site has no user ${name}`,
      message:
        'Name a login or an e-mail; `rewards site user list` shows all, `rewards site user add` adds one.',
      details: { reason: 'site_user_not_found' },
    }),
  },
  fault_not_found: {
    status: 404,
    when: 'no such fault is set',
    example: { name: 'fault-9' },
    says: ({ name }) => ({
      error: `No fault ${name} is set`,
      message: '`rewards faults list` shows those that are; a fault that was over has cleared itself.',
      details: { reason: 'fault_not_found' },
    }),
  },
  ...jobRefusals,
  ...snapshotRefusals,
  invalid_limit: {
    status: 400,
    when: 'the limit is out of range',
    example: { limitMax: 1_000 },
    says: ({ limitMax }) => ({ error: 'Invalid limit', message: `Use limit=1..${limitMax}.` }),
  },
  invalid_since: {
    status: 400,
    when: '`since` is neither a block nor a time',
    example: { since: 'yesterday' },
    says: ({ since }) => ({
      error: 'Invalid since',
      message: `since=${since.slice(0, 40)} is not accepted. Use ${SINCE_MUST_BE}.`,
    }),
  },
  unknown_endpoint: {
    status: 404,
    when: 'there is no such path',
    example: { method: 'GET', path: '/_rewards/nothing' },
    says: ({ method, path }) => ({ error: 'Not found', message: `There is no ${method} ${path} here.` }),
  },
  method_not_allowed: requestRefusals.method_not_allowed,
  database_unavailable: {
    status: 503,
    when: 'the ledger cannot be reached',
    says: {
      error: 'Database unavailable',
      message: 'The ledger cannot be reached: try again when its database is back.',
      details: { reason: 'database_unavailable' },
    },
  },
  database_busy: requestRefusals.database_busy,
  internal_error: {
    status: 500,
    when: 'something is wrong with the service; its log says what',
    says: {
      error: 'Internal server error',
      message:
        'The log of the service says what failed; check whether the request took effect before you repeat it.',
      details: { reason: 'internal_error' },
    },
  },
};

export const controlRefusals = refusalTable<ControlRefusal, RefusalBody>({
  form: refusalForm,
  leastRetrySeconds: 0,
  rows,
});
