/** `rewards requests diff`: what two kept requests sent, what they were answered and how they were decided, where it differs. */
import type { RequestDetail } from '../../../client/bodies.ts';
import type { Handler } from '../../machine/context.ts';
import { mustBe } from '../../service/control-reply.ts';
import type { Style } from '../../terminal/style.ts';
import { shortRequestId } from '../request-line.ts';
import { isRequestDetail } from '../run.ts';
import { type RequestsOptions, withRequests } from '../target.ts';
import { comparable, type Difference, differencesOf } from './differences.ts';
import { differenceLines } from './view.ts';

export const diffRequests: Handler<RequestsOptions & { a: string; b: string }> = (context, options) =>
  withRequests(context, options, async ({ requests }) => {
    const find = async (name: string): Promise<RequestDetail> => {
      const reply = await requests.show(name);
      mustBe(reply, isRequestDetail);
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
