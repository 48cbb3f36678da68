/** `rewards requests diff`: where two requests differ. */
import { comparable, type Difference, differencesOf } from '../../../client/replay/differences.ts';
import { type RequestDetail, showRequest } from '../../../contract/control/requests.ts';
import type { Handler } from '../../machine/context.ts';
import { type ControlOptions, withControl } from '../../service/control.ts';
import { mustSucceed } from '../../service/control-reply.ts';
import type { Style } from '../../terminal/style.ts';
import { shortRequestId } from './view.ts';

export const diffRequests: Handler<ControlOptions & { a: string; b: string }> = (context, options) =>
  withControl(context, options, async ({ call }) => {
    const find = async (name: string): Promise<RequestDetail> => {
      const reply = await call(showRequest, { path: { id: name } });
      mustSucceed(reply);
      return reply.body;
    };
    const [a, b] = [await find(options.a), await find(options.b)];
    const differences = differencesOf(comparable(a), comparable(b));
    const data = { a: a.id, b: b.id, same: differences.length === 0, differences };
    return { ok: true, data, text: (style) => diffText([a, b], differences, style) };
  });

function diffText(
  both: [RequestDetail, RequestDetail],
  differences: readonly Difference[],
  style: Style,
): string {
  const head = both.map(({ id, at, method, path, status }, place) =>
    [
      place === 0 ? 'a' : 'b',
      style.bold(shortRequestId(id)),
      style.dim(at),
      `${method} ${path}  ->  ${status}`,
    ].join('  '),
  );
  const same = [style.dim('  sent, answered and decided alike')];
  return [...head, ...(differences.length === 0 ? same : differenceLines(differences, style))].join('\n');
}

const VALUE_MAX = 60;

export const differenceLines = (differences: readonly Difference[], style: Style): string[] =>
  differences.map((one) => {
    const path = style.bold(one.path);
    if (!('a' in one)) return `  ${style.green('+')} ${path}  ${valueText(one.b)}`;
    if (!('b' in one)) return `  ${style.red('-')} ${path}  ${valueText(one.a)}`;
    return `  ${style.yellow('~')} ${path}  ${valueText(one.a)} → ${valueText(one.b)}`;
  });

function valueText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text;
}
