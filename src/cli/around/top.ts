/** `rewards top`: the live view of a running stack at a terminal; elsewhere what happens now, once. */
import { showOverview } from '../../contract/control/overview.ts';
import type { Handler } from '../machine/context.ts';
import { exitCodes } from '../machine/exit-codes.ts';
import type { LedgerOptions } from '../machine/shared-options.ts';
import { asks, withControl } from '../service/control.ts';
import { mustSucceed } from '../service/control-reply.ts';
import { catchStopSignals } from '../terminal/stop-signals.ts';
import { attachView, sayPlain, wantsView } from '../view/attach-view.ts';
import { overviewText } from './overview-text.ts';

const once = asks(showOverview, { text: overviewText });

export const top: Handler<LedgerOptions & { plain?: boolean }> = (context, options) => {
  const terminal = wantsView(context, options);
  if (!terminal) return once(context, options);
  return withControl(context, options, async ({ call, emulator }) => {
    // What cannot be reached is told as an error, not as a view without anything in it.
    mustSucceed(await call(showOverview));
    sayPlain(context);
    const signals = catchStopSignals(context.runtime);
    const view = await attachView(context, {
      terminal,
      call,
      ...(emulator && { emulator: emulator.call }),
      ledger: options,
      isOwn: false,
    });
    await Promise.race([signals.first, view.ended]);
    view.close();
    signals.release();
    return exitCodes.done;
  });
};
