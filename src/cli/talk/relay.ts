/** `rewards relay` and `rewards relay status`: sends a call on behalf of a user, and shows its state. */
import type { RelayRequestBody } from '../../client/bodies.ts';
import type { UserWallets } from '../../client/chain/user-wallet.ts';
import { type Reply, rateWindowIn } from '../../client/reply.ts';
import { formatDuration } from '../../lib/duration.ts';
import { stopwatch } from '../../lib/timers.ts';
import type { CommandContext, Handler } from '../machine/context.ts';
import { CliError, usageError } from '../machine/errors.ts';
import { readInput } from '../machine/read-input.ts';
import { isObject, type JsonObject } from '../service/assignments.ts';
import { parseExpectation } from '../service/expectation.ts';
import { namedBrand } from '../service/named-brand.ts';
import { noteRequest, serviceResult } from '../service/service-reply.ts';
import { clientFor, resolveTarget, type Target } from '../service/target.ts';
import { type Style, shortAddress } from '../terminal/style.ts';
import {
  amountOf,
  logIn,
  permitOf,
  type RelayUser,
  secondsFromNow,
  userOfToken,
  userWalletsOf,
} from './relay-user.ts';

interface RelayOptions {
  contract?: string;
  function?: string;
  args?: string[];
  as?: string;
  token?: string;
  to?: string;
  data?: string;
  value?: string;
  gasLimit?: number;
  permit?: boolean;
  permitValue?: string;
  permitDeadline: number;
  origin?: string;
  brand?: string;
  idempotencyKey?: string;
  expect?: string;
}

export const relayCall: Handler<RelayOptions> = async (context, options) => {
  const expected = options.expect === undefined ? undefined : parseExpectation(options.expect);
  const value = options.value === undefined ? undefined : amountOf(options.value, '--value');
  checkForm(options);
  const target = await resolveTarget(context);
  const client = clientFor(target, context);
  const user = await userOf(context, { options, target, client });
  const { call, body } = await buildBody(context, { options, target, client, user });
  if (value !== undefined) body.value = String(value);
  if (options.gasLimit !== undefined) body.gasLimit = options.gasLimit;

  const elapsedMs = stopwatch();
  const origin = options.origin ?? (await originOf(context, target, options.brand));
  const reply = await client.relay(body, user.token, {
    headers: {
      ...(origin && { origin }),
      ...(options.idempotencyKey && { 'idempotency-key': options.idempotencyKey }),
    },
  });
  const sent = { call, reply, tookMs: elapsedMs() };
  noteRequest(context, reply);
  const result = serviceResult(reply, { expected, text: (style) => relayLine(sent, style) });
  if (result.ok || expected) return result;
  return { ...result, text: (style) => relayRefusalLines(sent, style) };
};

export const relayStatus: Handler<{ hash: string }> = async (context, { hash }) => {
  const reply = await clientFor(await resolveTarget(context), context).relayState(hash);
  return serviceResult(reply, { text: (style) => relayStateLine(reply.body, style) });
};

/** A call needs a user, and either a contract and a function or an address and data. */
function checkForm({ contract, function: name, to, data, as, token }: RelayOptions): void {
  if (as === undefined && token === undefined)
    throw usageError('The user is missing.', 'Add --as <user>, or --token <token>.');
  const raw = to !== undefined || data !== undefined;
  if (raw && contract !== undefined)
    throw usageError('A contract and --to or --data exclude each other.', 'Leave one of them out.');
  if (raw && (to === undefined || data === undefined))
    throw usageError('--to and --data belong together.', 'Give both, or a contract and a function.');
  if (!raw && (contract === undefined || name === undefined)) {
    const fix = 'Give a contract and a function, such as: rewards relay perks purchaseFor me 1 50 --as alice';
    throw usageError('The call is missing.', fix);
  }
}

interface Surroundings {
  options: RelayOptions;
  target: Target;
  client: ReturnType<typeof clientFor>;
}

async function userOf(
  { runtime }: CommandContext,
  { options, target, client }: Surroundings,
): Promise<RelayUser> {
  const { as, token: given } = options;
  if (given === undefined) return logIn(client, target, as ?? '');
  const token = (given === '-' ? await readInput(runtime, '-') : given).trim().replace(/^Bearer +/i, '');
  // The token may be another user's: the relay itself refuses that.
  if (as === undefined) return userOfToken(token);
  return { ...(await logIn(client, target, as)), token };
}

/** The request, with the signatures of the user's wallet. */
async function buildBody(
  context: CommandContext,
  { options, target, client, user }: Surroundings & { user: RelayUser },
): Promise<{ call: string; body: RelayRequestBody }> {
  const { contract, function: name = '', args = [], to, data } = options;
  const wantsPermit = options.permit === true || options.permitValue !== undefined;
  const wallets = contract !== undefined || wantsPermit ? userWalletsOf(context, target) : undefined;
  const called =
    wallets && contract !== undefined
      ? await readCall(wallets, { contract, name, args, user, client })
      : { to: to ?? '', data: data ?? '', call: data?.slice(0, 10) ?? '', args: {} };
  const body: RelayRequestBody = { to: called.to, data: called.data, userAddress: user.address };
  const { perkId, maxPrice, amount } = called.args;
  const about = {
    ...(contract !== undefined && { action: called.call }),
    ...(perkId !== undefined && { perkId: String(perkId) }),
  };
  if (wallets && wantsPermit) {
    const value = options.permitValue ?? maxPrice ?? amount;
    if (value === undefined) {
      throw usageError(
        'The amount of the permit is missing, and the call does not name a price.',
        'Add --permit-value <amount>.',
      );
    }
    const deadline = await secondsFromNow(client, options.permitDeadline);
    const wish = { spender: called.to as `0x${string}`, deadline };
    const permit = await permitOf(wallets, user.wallet, {
      ...wish,
      value: amountOf(String(value), '--permit-value'),
    });
    body.metadata = { ...about, permit };
  } else if (Object.keys(about).length > 0) body.metadata = about;
  return { call: called.call, body };
}

const AUTHORIZATION_HOLDS_MS = 3_600_000;

async function readCall(
  wallets: UserWallets,
  wish: {
    contract: string;
    name: string;
    args: string[];
    user: RelayUser;
    client: ReturnType<typeof clientFor>;
  },
): Promise<{ to: string; data: string; call: string; args: Record<string, unknown> }> {
  const { contract, name, args, user } = wish;
  const me = user.address;
  // A call with all nine arguments is signed already.
  const signHere = name === 'transferWithAuthorization' && args.length === 3;
  const blanks = ['0', '0', `0x${'0'.repeat(64)}`, '0', `0x${'0'.repeat(64)}`, `0x${'0'.repeat(64)}`];
  const whole = signHere ? [...args, ...blanks] : args;
  const read = wallets.readCall({ contract, function: name, args: whole, me });
  if ('problem' in read) throw usageError(`${read.problem}.`, read.fix);
  const call = read.signature.replace(/\(.*/, '');
  if (!signHere) return { ...read, call };
  if (!user.wallet) {
    throw new CliError('E_NO_USER_KEY', { fix: 'Name the user with --as in place of --token.' });
  }
  const { to, value } = read.args as { to: `0x${string}`; value: bigint };
  const validBefore = await secondsFromNow(wish.client, AUTHORIZATION_HOLDS_MS);
  return { ...(await wallets.transfer(user.wallet, { to, value, validBefore })), call, args: read.args };
}

/** The Origin header that a page of the brand would send; undefined where no brand is named or listed. */
export async function originOf(
  context: CommandContext,
  target: Target,
  wanted: string | undefined,
): Promise<string | undefined> {
  const brand = wanted || target.run ? await namedBrand(context, target, wanted) : undefined;
  return brand?.domain && `https://${brand.domain}`;
}

interface SentRelay {
  /** The called function, in one word. */
  call: string;
  reply: Reply;
  tookMs: number;
}

/** `200  purchaseFor  in block 12  83211 gas at 1.5 gwei  tx 0x…  34 of 35 left  41ms`. */
function relayLine({ call, reply, tookMs }: SentRelay, style: Style): string {
  const body = isObject(reply.body) ? reply.body : {};
  const window = rateWindowIn(reply.headers);
  return [
    style.green(String(reply.status)),
    style.bold(call),
    `in block ${body.blockNumber}`,
    gasText(body),
    `tx ${body.transactionHash}`,
    ...(window ? [`${window.remaining} of ${window.limit} left`] : []),
    style.dim(formatDuration(tookMs)),
  ].join('  ');
}

/** The code, the reason, the check that refused, and when the user's next window begins. */
function relayRefusalLines({ call, reply, tookMs }: SentRelay, style: Style): string {
  const body = isObject(reply.body) ? reply.body : {};
  const details = isObject(body.details) ? body.details : {};
  const row = (name: string, line: string) => `  ${style.dim(name.padEnd(6))}  ${line}`;
  const window = rateWindowIn(reply.headers);
  const wait = typeof details.remainingSeconds === 'number' ? details.remainingSeconds * 1_000 : undefined;
  const resets = window && new Date(window.resetAtMs).toISOString();
  return [
    `${style.red(String(reply.status))}  ${style.bold(String(body.code ?? body.error ?? 'refused'))}`,
    row('call', `${call}  ${style.dim(formatDuration(tookMs))}`),
    ...(typeof body.error === 'string' ? [row('why', body.error)] : []),
    ...(typeof details.reason === 'string' ? [row('reason', details.reason)] : []),
    ...factLines(body.code, details).map((line) => row('', line)),
    ...(wait === undefined
      ? []
      : [row('passes', `in ${formatDuration(wait)} (rewards clock advance ${formatDuration(wait)})`)]),
    ...(window
      ? [row('limit', `${window.remaining} of ${window.limit} left, back to ${window.limit} at ${resets}`)]
      : []),
  ].join('\n');
}

/** `confirmed  in block 12  83211 gas at 1.5 gwei  tx 0x…`. */
function relayStateLine(body: unknown, style: Style): string {
  const state = isObject(body) ? body : {};
  const paint = { confirmed: style.green, failed: style.red }[String(state.status)] ?? style.yellow;
  const { blockNumber, from, transactionHash } = state;
  return [
    paint(String(state.status)),
    ...(blockNumber === undefined ? [] : [`in block ${blockNumber}`, gasText(state)]),
    `tx ${transactionHash}`,
    style.dim(`from ${shortAddress(String(from))}`),
  ].join('  ');
}

/** Fields that the texts above may leave out. */
function factLines(code: unknown, { function: name, transactionHash, allowed }: JsonObject): string[] {
  const shown = Object.entries({ function: name, tx: transactionHash }).flatMap(([label, value]) =>
    typeof value === 'string' ? [`${label} ${value}`] : [],
  );
  const contracts = code === 'CONTRACT_NOT_WHITELISTED' && Array.isArray(allowed) ? allowed : [];
  return [...shown, ...contracts.map((contract) => `allowed ${contract}`)];
}

const GWEI = 1e9;
const gasText = ({ gasUsed, effectiveGasPrice }: JsonObject) =>
  `${gasUsed} gas at ${Number((Number(effectiveGasPrice) / GWEI).toPrecision(3))} gwei`;
