/** `rewards webhooks send`: a signed event of one's own making. */
import { secureRandom } from '../../../lib/ids.ts';
import type { CommandContext, Handler } from '../../machine/context.ts';
import { usageError } from '../../machine/errors.ts';
import { readJsonObject } from '../../machine/read-input.ts';
import {
  type Assignment,
  assign,
  isObject,
  type JsonObject,
  parseAssignment,
} from '../../service/assignments.ts';
import { processorIfRunning } from './processor.ts';
import { recorded } from './recorded-events.ts';
import { deliver, type SendingOptions } from './replay.ts';

interface SendOptions extends SendingOptions {
  type?: string;
  file?: string;
  set?: string[];
  setString?: string[];
}

export const sendEvent: Handler<SendOptions> = async (context, options) => {
  const processor = await processorIfRunning(context);
  const nowMs = processor ? await processor.nowMs() : context.runtime.clock.now();
  const payload = await bodyOf(context, options, Math.floor(nowMs / 1_000));
  return deliver(context, [recorded(payload)], { processor, options });
};

/** The file's event or a new one, then `--type`, then `--set` in its order. */
async function bodyOf(
  { runtime }: CommandContext,
  { type, file, set = [], setString = [] }: SendOptions,
  nowSeconds: number,
): Promise<JsonObject> {
  const given = file === undefined ? {} : await readJsonObject(runtime, file);
  const wanted = type ?? given.type;
  if (typeof wanted !== 'string')
    throw usageError(
      'The event has no type.',
      'Give one with --type, such as --type checkout.session.completed.',
    );
  const assignments: Assignment[] = [
    ...set.map((text) => parseAssignment(text, { asText: false })),
    ...setString.map((text) => parseAssignment(text, { asText: true })),
  ];
  const id = `evt_${secureRandom(runtime.clock).uuid().replaceAll('-', '')}`;
  const fresh = newEvent(wanted, { id, nowSeconds });
  const body = assign({ ...fresh, ...given, type: wanted }, assignments);
  if (typeof body.id === 'string' && isObject(body.data)) return body;
  throw usageError(
    'The event needs an id and data.',
    'Set them as --set id=evt_1 and --set data.object.id=cs_test_1.',
  );
}

function newEvent(type: string, { id, nowSeconds }: { id: string; nowSeconds: number }): JsonObject {
  // The object's kind is the type without its verb: `checkout.session` of `checkout.session.completed`.
  const object = type.split('.').slice(0, -1).join('.') || type;
  return {
    id,
    object: 'event',
    created: nowSeconds,
    livemode: false,
    type,
    data: { object: { object } },
  };
}
