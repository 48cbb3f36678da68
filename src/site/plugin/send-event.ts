/** The event call: a server-side event to the event handler. Contract: What the service does. */
import type { Clock } from '../../lib/clock.ts';
import type { createDebugLog } from './debug-log.ts';
import type { EventCall, Occurrence } from './plugin.ts';
import { pluginRefusals } from './refusals.ts';
import { type AskService, answerOf } from './service/ask-service.ts';
import { eventAnswer, reasonIn, wordsIn } from './service/service-answers.ts';
import { PLATFORM } from './service/service-calls.ts';

export interface SendEventDeps {
  asking: AskService;
  clock: Clock;
  debugLog: ReturnType<typeof createDebugLog>;
  /** Where the site's events come from. */
  domain(): string;
}

/** What came back, with the service's whole answer for those who explain it. */
export type AnsweredEvent = EventCall & { answer: unknown };

export type SendEvent = (eventName: string, occurrence: Occurrence) => Promise<AnsweredEvent>;

export function createSendEvent(deps: SendEventDeps): SendEvent {
  return async (eventName, { email, metadata }) => {
    const call = deps.asking.call();
    if (!call) {
      const { message } = pluginRefusals.not_configured;
      deps.debugLog.write(`event ${eventName} of ${email}: not sent, ${message}`);
      return { eventName, success: false, status: 0, code: 'not_configured', message, answer: undefined };
    }
    const { status, body } = await answerOf(
      call.client.sendEvent(
        {
          brandId: call.brandId,
          eventType: eventName,
          userEmail: email,
          domain: deps.domain(),
          // The plugin's two come last: no page speaks for another platform or another time.
          metadata: { ...metadata, platform: PLATFORM, timestamp: new Date(deps.clock.now()).toISOString() },
        },
        call.options,
      ),
    );
    const success = status === 200;
    const read = success ? eventAnswer.safeParse(body) : undefined;
    const reward = read?.success ? read.data.rewardAmount : undefined;
    const reason = reasonIn(body) ?? (success ? 'Rewarded' : `The service answered ${status}`);
    const message = success ? reason : (wordsIn(body) ?? reason);
    deps.debugLog.write(`event ${eventName} of ${email}: ${status === 0 ? 'no answer' : status} ${reason}`);
    return { eventName, success, status, message, reward, answer: body };
  };
}
