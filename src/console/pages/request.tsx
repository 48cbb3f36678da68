/** One request: what was sent and answered, each check with its numbers, and what became of it. */
import type { Child } from 'hono/jsx';
import {
  dryRunEvent,
  type ExplainedEvent,
  type RequestDetail,
  replayRequest,
  showRequest,
} from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import { shellLine } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress, type Visit } from '../page.ts';
import { Action, Command, Field, Filter } from '../parts/action.tsx';
import { EventChecks, EventOutlook } from '../parts/event-checks.tsx';
import { ExactMoment } from '../parts/moment.tsx';
import { PageLink } from '../parts/scope.tsx';
import { Facts, Section } from '../parts/table.tsx';
import { Body, Id, State, Text } from '../parts/text.tsx';
import { Deliveries, deliveriesAbout } from './webhooks/delivery-rows.tsx';

export const request: ConsolePage = {
  path: '/requests/:id',
  async view(visit) {
    const { params, nowMs } = visit;
    const detail = await answerOf(visit, showRequest, { path: { id: params.id ?? '' } });
    const subjects = subjectsOf(detail);
    const [outlook, told] = await Promise.all([whatIf(visit, detail), deliveriesAbout(visit, subjects)]);
    return {
      title: `${detail.method} ${detail.path}`,
      body: (
        <>
          <Summary of={detail} nowMs={nowMs} />
          {detail.explained.map((event, place) => (
            <Explained event={event} place={place} of={detail} nowMs={nowMs} />
          ))}
          <div class="columns">
            <Section title="Sent">
              <Headers of={detail.requestHeaders} label="Headers that were sent" />
              <Body of={detail.requestBody} label="Body that was sent" />
              {detail.requestBodyKept in NOT_WHOLE && (
                <p class="quiet">{NOT_WHOLE[detail.requestBodyKept]}</p>
              )}
            </Section>
            <Section title="Answered">
              <Headers of={detail.responseHeaders} label="Headers of the answer" />
              <Body of={detail.responseBody} label="Body of the answer" />
            </Section>
          </div>
          {subjects.length > 0 && (
            <Section title="Webhooks it caused" live="webhooks">
              <Deliveries
                of={told}
                nowMs={nowMs}
                empty="None: brands are told of what is in a block, and no endpoint may want it."
              />
            </Section>
          )}
          {!visit.readOnly && eventOf(detail) && (
            <Section title="What if">
              <Filter label="The same event, without effect">
                <Field name="user" label="user" value={visit.query.user} placeholder={detail.user ?? ''} />
                <Field
                  name="at"
                  label="at"
                  value={visit.query.at}
                  placeholder="now, or 2030-01-01T00:00:00Z"
                />
              </Filter>
              {outlook && <EventOutlook of={outlook} nowMs={nowMs} />}
            </Section>
          )}
          {!visit.readOnly && <SendAgain id={detail.id} />}
          <Section title="The same in a shell">
            <p>
              <Command text={shellLine`rewards requests explain ${detail.id}`} />
            </p>
            <p>
              <Command text={shellLine`rewards requests show ${detail.id} --as curl`} />
            </p>
          </Section>
        </>
      ),
    };
  },
};

const SendAgain = ({ id }: { id: string }): Child => (
  <Section title="Send it again">
    <p class="quiet">
      The answer, where it differs from this one, and what comes of it are shown below. A new id makes it
      another event; without one it must have no effect.
    </p>
    <Action
      endpoint={replayRequest}
      path={{ id: id }}
      label="Replay"
      command={shellLine`rewards requests replay ${id} --diff`}
      shows
    />
    <Action
      endpoint={replayRequest}
      path={{ id: id }}
      body={{ newId: true }}
      label="Replay with a new id"
      command={shellLine`rewards requests replay ${id} --diff --new-id`}
      shows
    />
  </Section>
);

/** The one event that the request has, as it was sent; undefined for others, and where the log does not have all of it. */
function eventOf({
  explained,
  requestBody,
  requestBodyKept,
}: RequestDetail): Record<string, unknown> | undefined {
  const [only, ...more] = explained;
  if (only?.kind !== 'event' || more.length > 0 || requestBodyKept !== 'whole') return undefined;
  try {
    return JSON.parse(requestBody ?? '');
  } catch {
    return undefined;
  }
}

/** How the same event would be decided at another time, or of another user; undefined where nobody asks. */
async function whatIf(visit: Visit, detail: RequestDetail) {
  const { user, at } = visit.query;
  const event = eventOf(detail);
  if (!event || (!user && !at)) return undefined;
  const ofUser = { ...event, userEmail: user, userIdentifier: undefined };
  return answerOf(visit, dryRunEvent, {
    body: { event: user ? ofUser : event, withKey: detail.withBrandKey, ...(at && { at }) },
  });
}

/** Ids in answers that webhooks are about, by the path that makes what they name. */
const NAMED_IN_ANSWERS: Readonly<Record<string, string>> = {
  '/perks/redeem': 'redemptionId',
  '/create-checkout': 'sessionId',
};

/** What webhooks that the request caused are about: its rewards, its redemption, its payment. */
function subjectsOf({ explained, path, responseBody }: RequestDetail): string[] {
  const rewards = explained.flatMap(({ eventId }) => (eventId === null ? [] : [eventId]));
  const field = Object.entries(NAMED_IN_ANSWERS).find(([end]) => path.endsWith(end))?.[1];
  const named = field === undefined ? undefined : jsonOf(responseBody)?.[field];
  return [...rewards, ...(typeof named === 'string' ? [named] : [])];
}

function jsonOf(text: string | null): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

const NOT_WHOLE: Partial<Record<RequestDetail['requestBodyKept'], string>> = {
  cut: 'Cut: it was too long for the log.',
  redacted: 'Kept without the secrets in it.',
  refused: 'Refused as such, and not kept.',
  'not kept': 'Production keeps no bodies.',
};

const Summary = ({ of, nowMs }: { of: RequestDetail; nowMs: number }) => (
  <Facts
    of={[
      [
        'answer',
        <State
          is={of.status < 400 ? 'good' : 'bad'}
        >{`${of.status}${of.error === null ? '' : ` ${of.error}`}`}</State>,
      ],
      ['decision', of.decision === null ? '–' : of.decision.replaceAll('_', ' ')],
      [
        'user',
        of.user === null ? (
          '–'
        ) : (
          <PageLink to={pageAddress(`/users/${encodeURIComponent(of.user)}`)}>
            <Text of={of.user} />
          </PageLink>
        ),
      ],
      ['at', <ExactMoment at={of.at} nowMs={nowMs} />],
      ['took', formatDuration(of.durationMs)],
      ['origin', <Text of={of.origin} />],
      ['proved by', of.credential ?? 'nothing'],
      ['id', <code>{of.id}</code>],
    ]}
  />
);

function Explained(props: { event: ExplainedEvent; place: number; of: RequestDetail; nowMs: number }): Child {
  const { event, place, of, nowMs } = props;
  const what = event.eventType ?? event.call ?? event.kind;
  const many = of.explained.length > 1 ? `${place + 1} of ${of.explained.length}: ` : '';
  return (
    <Section title={`${many}why ${what} was decided so`} live={`explained-${place}`}>
      <EventChecks of={event} nowMs={nowMs}>
        <Command text={shellLine`rewards clock advance --until ${of.id}`} />
      </EventChecks>
      {event.reward && <Timeline event={event} of={of} nowMs={nowMs} />}
    </Section>
  );
}

/** From arrival to the final block. */
function Timeline({ event, of, nowMs }: { event: ExplainedEvent; of: RequestDetail; nowMs: number }): Child {
  const { reward } = event;
  if (!reward) return null;
  return (
    <>
      <h3>From arrival to the chain</h3>
      <ol>
        <li>
          arrived <ExactMoment at={of.at} nowMs={nowMs} />
        </li>
        <li>
          granted {reward.rewardAmount} RWT as <Id of={reward.eventId} />
        </li>
        <li>
          {reward.transactionHash === null ? (
            'in no transaction yet'
          ) : (
            <>
              in transaction{' '}
              <Id
                of={reward.transactionHash}
                href={pageAddress(`/chain/transactions/${reward.transactionHash}`)}
              />
            </>
          )}
        </li>
        {reward.blockNumber !== null && <li>in block {reward.blockNumber}</li>}
        <li>
          {reward.status}
          {reward.reason !== null && <Text of={`: ${reward.reason}`} />}
        </li>
      </ol>
    </>
  );
}

const Headers = ({ of, label }: { of: Readonly<Record<string, string>>; label: string }): Child =>
  Object.keys(of).length === 0 ? null : (
    <details>
      <summary>{label}</summary>
      <Facts of={Object.entries(of).map(([name, value]) => [name, <Text of={value} />])} />
    </details>
  );
