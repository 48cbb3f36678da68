/** All that delivers webhooks in one process: the deliverer, and the care of its log. */
import { createDeliverer, type Deliverer, type DelivererDeps, type DelivererSettings } from './deliver.ts';
import { type PostDeps, post } from './post.ts';
import { createLogTrimmer, type LogTrimmerDeps, type LogTrimmerSettings } from './trim-log.ts';

/** Runs nothing before `start`. */
export function createWebhooks(
  deps: Omit<DelivererDeps, 'post' | 'onTurnedOff'> & LogTrimmerDeps & PostDeps,
  settings: DelivererSettings & LogTrimmerSettings,
): Deliverer {
  const care = createLogTrimmer(deps, settings);
  const deliverer = createDeliverer(
    { ...deps, post: (wish) => post(deps, wish), onTurnedOff: care.nudge },
    settings,
  );
  return {
    start() {
      deliverer.start();
      care.start();
    },
    nudge: deliverer.nudge,
    async stop() {
      await Promise.all([deliverer.stop(), care.stop()]);
    },
  };
}
