/** POST payment-mint: with a session's id, or as the webhook destination of the payment processor (contract: Endpoints, Events). */
import type { Context, Handler } from 'hono';
import type { MintOutcome, PaidMint } from '../../actions/payments/mint-payment.ts';
import type { EventOutcome } from '../../actions/payments/receive-processor-event.ts';
import { type EventReceipt, type MintResult, mintBody } from '../../contract/events/payment-mint.ts';
import { problemsOf } from '../../contract/shapes.ts';
import { checksummed } from '../../identity/checksum.ts';
import { EventProblem, type ProcessorEvent } from '../../payments/processor.ts';
import { jsonAnswer } from '../frame/answer.ts';
import { readJsonBody, readRawBody } from '../frame/body.ts';
import type { RequestVariables } from '../frame/request-record.ts';
import type { EventsRefuser } from './refuser.ts';

export interface PaymentMintDeps {
  /** Absent where the service takes no payments. */
  payments:
    | {
        /** `actions/payments/mint-payment` with its deps bound. */
        mintPayment: (sessionId: string) => Promise<MintOutcome>;
        /** The processor's: throws an `EventProblem` for what cannot be believed. */
        readEvent: (sent: { body: Uint8Array; signature: string }) => Promise<ProcessorEvent>;
        /** `actions/payments/receive-processor-event` with its deps bound. */
        receiveEvent: (event: ProcessorEvent) => Promise<EventOutcome>;
      }
    | undefined;
  refuser: EventsRefuser;
  settings: {
    bodyLimitBytes: number;
    /** A processor's event is longer than what callers send. */
    processorEventLimitBytes: number;
    /** `/tx/<hash>` is appended. */
    explorerUrl: string;
  };
}

type Payments = NonNullable<PaymentMintDeps['payments']>;

export function paymentMint(deps: PaymentMintDeps): Handler<RequestVariables> {
  return (context) => {
    const { payments } = deps;
    if (!payments) return deps.refuser.answer(context, { code: 'payments_not_configured' });
    const signature = context.req.header('stripe-signature');
    return signature === undefined
      ? bySession(deps, payments, context)
      : byEvent(deps, payments, context, signature);
  };
}

async function bySession(
  deps: PaymentMintDeps,
  { mintPayment }: Payments,
  context: Context<RequestVariables>,
): Promise<Response> {
  const { refuser, settings } = deps;
  const body = await readJsonBody(context.req.raw, settings.bodyLimitBytes);
  if ('refusal' in body) return refuser.answer(context, body.refusal);
  context.get('notes').body = body.text;
  const parsed = mintBody.safeParse(body.value);
  if (!parsed.success)
    return refuser.answer(context, { code: 'invalid_event_data', errors: problemsOf(parsed.error) });
  const { sessionId } = parsed.data;
  // No processor's id has other characters, and none of them means anything in a path.
  if (!/^[A-Za-z0-9_-]{1,255}$/.test(sessionId))
    return refuser.answer(context, { code: 'session_not_found' });
  const outcome = await mintPayment(sessionId);
  if ('refusal' in outcome) return refuser.answer(context, outcome.refusal);
  return jsonAnswer(context, mintReply(outcome.minted, settings));
}

async function byEvent(
  deps: PaymentMintDeps,
  { readEvent, receiveEvent }: Payments,
  context: Context<RequestVariables>,
  signature: string,
): Promise<Response> {
  const { refuser, settings } = deps;
  const body = await readRawBody(context.req.raw, settings.processorEventLimitBytes);
  if ('refusal' in body) return refuser.answer(context, body.refusal);
  context.get('notes').body = new TextDecoder().decode(body.bytes);
  const event = await readEvent({ body: body.bytes, signature }).catch((error: unknown) => {
    if (error instanceof EventProblem) return error;
    throw error;
  });
  if (event instanceof EventProblem) {
    const { code: problem, message, fix } = event;
    return refuser.answer(context, { code: 'processor_event_refused', problem, message, fix });
  }
  const outcome = await receiveEvent(event);
  if ('minted' in outcome) return jsonAnswer(context, mintReply(outcome.minted, settings));
  if (!('refusal' in outcome)) return jsonAnswer(context, receipt(true, toldOf(outcome)));
  const { status, body: said } = refuser.reply(outcome.refusal);
  // The processor sends what was not answered with 200 again, for days: that helps where a later try may pass.
  if (status >= 500) return refuser.answer(context, outcome.refusal);
  return jsonAnswer(context, receipt(false, said.message));
}

const receipt = (success: boolean, message: string): EventReceipt => ({ success, received: true, message });

function toldOf(outcome: Exclude<EventOutcome, MintOutcome>): string {
  if ('ignored' in outcome) return 'Event received; there is nothing to do for it here';
  const what = outcome.recorded === 'refund' ? 'Refund' : 'Dispute';
  return outcome.isNew ? `${what} recorded` : `${what} recorded already`;
}

const CENTS_PER_USD = 100;

const mintReply = (minted: PaidMint, { explorerUrl }: PaymentMintDeps['settings']): MintResult => ({
  success: true,
  message: minted.alreadyProcessed
    ? 'Payment already processed'
    : `Payment processed: ${minted.rwtAmount} RWT minted`,
  txHash: minted.transactionHash,
  blockExplorer: `${explorerUrl}/tx/${minted.transactionHash}`,
  walletAddress: checksummed(minted.wallet),
  usdAmount: minted.usdCents / CENTS_PER_USD,
  rwtAmount: minted.rwtAmount,
  paymentIntentId: minted.paymentIntentId ?? '',
  ...(minted.alreadyProcessed && { alreadyProcessed: true }),
});
