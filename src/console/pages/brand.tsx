/** One brand: money and limits, what strangers are paid, its rules with an editor, and a tester that pays nothing. */
import type { Child } from 'hono/jsx';
import {
  type BrandDetail,
  type ShownRule,
  setBrand,
  setRule,
  showBrand,
} from '../../contract/control/brands.ts';
import { type History, showBoardHistory, showHistory } from '../../contract/control/history.ts';
import { dryRunEvent } from '../../contract/control/requests.ts';
import { formatDuration } from '../../lib/duration.ts';
import type { HistoryRange } from '../../lib/history-range.ts';
import { pastedWord, shellLine, shellOptions } from '../../lib/text/shell-quoted.ts';
import { isUnlimited } from '../../rules/brands/brand.ts';
import { areBoundedBySpending } from '../../rules/brands/pays-without-key.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Action, Command, Field, Filter } from '../parts/action.tsx';
import { BoardsOverTime } from '../parts/board-history.tsx';
import { EventOutlook } from '../parts/event-checks.tsx';
import { EscrowLeft, lastsText, RangeLinks } from '../parts/history-plot.tsx';
import { Moment } from '../parts/moment.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { State, Text } from '../parts/text.tsx';

export const brand: ConsolePage = {
  path: '/brands/:id',
  async view(visit) {
    const { params, query, nowMs } = visit;
    const shown = await answerOf(visit, showBrand, { path: { name: params.id ?? '' } });
    const range = query.range || 'day';
    const [history, boards] = await Promise.all([
      // What is no range is refused by the API, in its words.
      answerOf(visit, showHistory, { query: { range: range as HistoryRange, brand: shown.brandId } }),
      answerOf(visit, showBoardHistory, { path: { name: shown.brandId }, query: {} }),
    ]);
    const asked = query.event && query.user ? { event: query.event, user: query.user } : undefined;
    const outlook =
      asked &&
      (await answerOf(visit, dryRunEvent, {
        body: {
          event: {
            brandId: shown.brandId,
            eventType: asked.event,
            userEmail: asked.user,
            ...(query.domain && { domain: query.domain }),
            ...(query.channel && { metadata: { channel_id: query.channel } }),
          },
          ...(query.at && { at: query.at }),
          ...(query.key === 'yes' && { withKey: true }),
        },
      }));
    return {
      title: shown.name,
      body: (
        <>
          {shown.warnings.map((warning) => (
            <p class="notice bad">{warning}</p>
          ))}
          <Section title="Money and limits" live="funds">
            <Funds of={shown} />
          </Section>
          <Section title="How fast it is spent" live="burn">
            <RangeLinks path={`/brands/${shown.brandId}`} query={query} range={range} />
            <Burn of={{ brand: shown, history }} nowMs={nowMs} />
            <Command text={shellLine`rewards history --range ${range} --brand ${shown.brandId}`} />
          </Section>
          <Section title="Leaderboard over the weeks" live="boards">
            <BoardsOverTime of={boards} />
            <Command text={shellLine`rewards brand boards ${shown.brandId}`} />
          </Section>
          <Section title="Paid without the brand’s key">
            <Keyless of={shown} />
          </Section>
          <Section title="Try an event, without effect">
            <Tester of={shown} query={query} />
            {outlook && <EventOutlook of={outlook} nowMs={nowMs} />}
          </Section>
          <Section title="Rules">
            <Rules of={shown} edits={query.rule} />
          </Section>
          <div id="editor">
            <RuleEditor of={shown} rule={shown.rules.find(({ eventType }) => eventType === query.rule)} />
          </div>
          <Section title="Keys">
            <Table
              label="Keys"
              columns={['key', 'since', 'until']}
              rows={shown.keys.map(({ keyId, createdAt, expiresAt }) => [
                <Text of={keyId} />,
                <Moment at={createdAt} nowMs={nowMs} />,
                expiresAt === null ? 'it is replaced' : <Moment at={expiresAt} nowMs={nowMs} />,
              ])}
              empty="None."
            />
          </Section>
          <Command text={shellLine`rewards brand show ${shown.brandId}`} />
        </>
      ),
    };
  },
};

interface Burning {
  brand: BrandDetail;
  history: History;
}

/** What is left over the range, how long it lasts, and how far the spend limits are used. */
const Burn = ({ of: { brand, history }, nowMs }: { of: Burning; nowMs: number }): Child => {
  const { available } = brand.funds;
  return (
    <>
      <Facts
        of={[
          ['spent', `${history.totals.rwt} RWT in ${history.totals.rewards} rewards`],
          ['lasts', lastsText(history, { available, nowMs })],
        ]}
      />
      <EscrowLeft of={history} available={available} />
      {brand.spending.length > 0 && (
        <Table
          label="Spend limits"
          columns={['at most in', { name: 'RWT', isNumber: true }, { name: 'used', isNumber: true }, 'until']}
          rows={brand.spending.map(({ span, limit, spent, endsAt }) => [
            span === 'hour' ? 'an hour' : 'a day',
            limit,
            spent >= limit ? (
              <State is="bad">{`all ${spent}`}</State>
            ) : (
              `${spent} (${Math.floor((100 * spent) / limit)} %)`
            ),
            <Moment at={endsAt} nowMs={nowMs} />,
          ])}
          empty="None."
        />
      )}
    </>
  );
};

const Funds = ({ of }: { of: BrandDetail }): Child => (
  <>
    <Facts
      of={[
        ['left', of.funds.available <= 0 ? <State is="bad">nothing</State> : `${of.funds.available} RWT`],
        ['in escrow', `${of.funds.deposited} RWT`],
        ['promised', `${of.funds.promised} RWT`],
        ['at most an hour', of.spendPerHour === null ? 'no limit' : `${of.spendPerHour} RWT`],
        ['at most a day', of.spendPerDay === null ? 'no limit' : `${of.spendPerDay} RWT`],
        ['automation', of.automation ? <State is="good">on</State> : <State is="bad">off</State>],
        ['domains', <Text of={of.domains.join(', ')} />],
        ['by DNS', of.provenDomains.length === 0 ? 'none' : <Text of={of.provenDomains.join(', ')} />],
        ...(of.gasWallet
          ? ([
              [
                'gas wallet',
                of.gasWallet.ready ? <State is="good">ready</State> : <State is="waiting">not ready</State>,
              ],
            ] satisfies [string, Child][])
          : []),
        ['id', <code>{of.brandId}</code>],
      ]}
    />
    <Action
      endpoint={setBrand}
      path={{ name: of.brandId }}
      body={{ automation: of.automation ? 'off' : 'on' }}
      label={of.automation ? 'Turn automation off' : 'Turn automation on'}
      command={shellLine`rewards brand set ${of.brandId} automation=${of.automation ? 'off' : 'on'}`}
    />
    <Action
      endpoint={setBrand}
      path={{ name: of.brandId }}
      label="Set the limit"
      command={shellLine`rewards brand set ${of.brandId} spendPerHour={spendPerHour}`}
    >
      <Field name="spendPerHour" label="RWT an hour" placeholder="5000, or none" required />
    </Action>
  </>
);

const Keyless = ({ of }: { of: BrandDetail }): Child => (
  <>
    <Table
      label="Paid without the brand’s key"
      columns={['what', 'to whom and how much', 'what ends it']}
      rows={of.paysWithoutKey.map(({ pays, text, closedBy }) => [
        pays,
        <Text of={text} />,
        <code>{closedBy}</code>,
      ])}
      empty="Nothing: only who has the brand’s key can have anything paid."
    />
    {areBoundedBySpending(of.paysWithoutKey) && of.spendPerHour === null && of.spendPerDay === null && (
      <p class="notice bad">Nothing but the escrow bounds it: set spendPerHour.</p>
    )}
  </>
);

const Tester = ({ of, query }: { of: BrandDetail; query: Readonly<Record<string, string>> }): Child => (
  <>
    <Filter label="Which event">
      <Field
        name="event"
        label="event"
        value={query.event ?? ''}
        options={['', ...of.rules.map(({ eventType }) => eventType)]}
      />
      <Field name="user" label="user" value={query.user} placeholder="you@demo.example" required />
      <Field name="domain" label="domain" value={query.domain} placeholder={of.domains[0] ?? ''} />
      <Field name="channel" label="channel" value={query.channel} placeholder="of a chat: its id" />
      <Field name="key" label="with the key" value={query.key ?? 'no'} options={['no', 'yes']} />
      <Field name="at" label="at" value={query.at} placeholder="now, or 2030-01-01T00:00:00Z" />
    </Filter>
    <Command text={dryRunCommand(of.brandId, query)} />
  </>
);

/** The same in a shell. */
const dryRunCommand = (
  brandId: string,
  { event, user, domain, channel, at }: Readonly<Record<string, string>>,
) =>
  [
    `rewards send-event ${event ? pastedWord(event) : '<event>'}`,
    user ? shellOptions({ user }) : ' --user <user>',
    shellOptions({ brand: brandId, domain, channel }),
    ' --dry-run',
    shellOptions({ at }),
  ].join('');

const limit = (most: number) => (isUnlimited(most) ? 'no limit' : most);

const Rules = ({ of, edits }: { of: BrandDetail; edits: string | undefined }): Child => (
  <Table
    label="Rules"
    columns={[
      'event',
      'pays',
      { name: 'RWT', isNumber: true },
      { name: 'per user', isNumber: true },
      { name: 'all users', isNumber: true },
      'cooldown',
      'also',
      'edit',
    ]}
    rows={of.rules.map((rule) => [
      <Text of={rule.eventType} />,
      rule.active ? <State is="good">yes</State> : <State is="bad">off</State>,
      rule.reward,
      limit(rule.maxClaims),
      limit(rule.maxTotalClaims),
      rule.cooldownMs === 0 ? 'none' : formatDuration(rule.cooldownMs),
      <Text of={alsoOf(rule)} />,
      <a
        href={`${pageAddress(`/brands/${of.brandId}`, { rule: rule.eventType })}#editor`}
        aria-current={rule.eventType === edits ? 'true' : undefined}
        aria-label={`Edit ${rule.eventType}`}
      >
        edit
      </a>,
    ])}
    empty="None yet: nothing is paid."
  />
);

const COLUMNS = ['eventType', 'active', 'reward', 'maxClaims', 'maxTotalClaims', 'cooldownMs'];

/** Not worth a word. */
const USUAL = ['', 'none', 'manual'];

/** Settings without a column of their own. */
const alsoOf = (rule: ShownRule): string =>
  Object.entries<unknown>(rule)
    .flatMap(([name, value]) => {
      const text = Array.isArray(value) ? value.join(' ') : String(value ?? '');
      return COLUMNS.includes(name) || USUAL.includes(text) ? [] : [`${name} ${text}`];
    })
    .join(', ');

/** Changes the rule that is chosen, or adds another; what is wrong with a field is said by the API. */
const RuleEditor = ({ of, rule }: { of: BrandDetail; rule: ShownRule | undefined }): Child => (
  <Section title={rule ? `Change ${rule.eventType}` : 'Add a rule'}>
    <Action
      endpoint={setRule}
      path={{ name: of.brandId, ...(rule && { eventType: rule.eventType }) }}
      label={rule ? 'Save' : 'Add'}
      command={`${shellLine`rewards brand rule ${of.brandId}`} ${rule ? pastedWord(rule.eventType) : '{eventType}'} --reward {reward} --max-claims {maxClaims} --max-total {maxTotalClaims} --cooldown {cooldown} --active {active}`}
    >
      {!rule && <Field name="eventType" label="event" placeholder="custom_visit" required />}
      <Field name="reward" as="number" label="RWT" value={rule && String(rule.reward)} required />
      <Field
        name="maxClaims"
        as="json"
        label="claims of a user"
        value={rule && String(rule.maxClaims)}
        help="-1: no limit"
      />
      <Field
        name="maxTotalClaims"
        as="json"
        label="claims of all"
        value={rule && String(rule.maxTotalClaims)}
        help="-1: no limit"
      />
      <Field
        name="cooldown"
        label="cooldown"
        value={rule && (rule.cooldownMs === 0 ? '0' : formatDuration(rule.cooldownMs))}
        placeholder="24h"
      />
      <Field name="active" label="pays" value={rule && !rule.active ? 'off' : 'on'} options={['on', 'off']} />
    </Action>
  </Section>
);
