/** The event call: a server-side event to the event handler, and what an administrator does about the answer to a test event. Contract: What the service does. */
import type { Clock } from '../../lib/clock.ts';
import type { createDebugLog } from './debug-log.ts';
import { type EventCall, type Occurrence, pluginRefusals } from './plugin.ts';
import type { PluginSettings } from './plugin-settings.ts';
import { type AskService, answerOf } from './service/ask-service.ts';
import { eventAnswer, reasonCodeIn, reasonIn, wordsIn } from './service/service-answers.ts';
import { PLATFORM } from './service/service-calls.ts';

interface SendEventDeps {
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

/** The service's words, and what they mean for the settings. `domain`: the one that was sent. */
export function explainAnswer(
  call: AnsweredEvent,
  { settings, domain }: { settings: PluginSettings; domain: string },
): string {
  if (call.code === 'not_configured')
    return 'The plugin is not configured: set the Brand ID, the event handler URL and the services URL.';
  const advice = adviceFor(call, { settings, domain });
  const reason = reasonIn(call.answer) ?? call.message;
  return advice === '' ? reason : `${ended(reason)} ${advice}`;
}

function adviceFor(
  { status, success, answer, eventName }: AnsweredEvent,
  { settings, domain }: { settings: PluginSettings; domain: string },
): string {
  if (success) return 'The connection works.';
  const reason = reasonCodeIn(answer);
  const words = wordsIn(answer) ?? '';
  if (reason === 'automation_disabled') return 'Switch rewards on for the brand.';
  if (reason === 'brand_key_required') return "Put a key of the brand into the settings' API key.";
  if (reason === 'channel_not_allowed')
    return 'The connection works; this event counts in chat channels only.';
  if (status === 403)
    return `The domain ${domain} is not configured for the brand: it must match one of the brand's domains exactly, with or without www.`;
  if (words.startsWith('Brand not found'))
    return `Copy the Brand ID from the brand's dashboard: the settings have ${settings.brandId}.`;
  if (words.startsWith('Invalid event data')) return '';
  if (status === 400)
    return `An event is named exactly as in the brand's dashboard: ${eventName} must match it, upper and lower case too.`;
  if (status === 429 || status === 409)
    return 'The connection works; this user may not have this event now: try another e-mail.';
  if (status === 0)
    return `Nothing answered at ${settings.eventHandlerUrl}: check the event handler URL, and whether the site may connect to it.`;
  if (status >= 500) return 'The service has trouble of its own: try again later.';
  return `Is ${settings.eventHandlerUrl} the event handler?`;
}

const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);
