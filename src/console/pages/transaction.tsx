/** One transaction: its call, the rewards in it, and its logs, in words. */
import type { Child } from 'hono/jsx';
import { type ChainTransaction, showTransaction } from '../../contract/control/chain.ts';
import { coinsOfWei } from '../../lib/gas-money.ts';
import { shellLine } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { ExactMoment } from '../parts/moment.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Id, Text } from '../parts/text.tsx';
import { blockAddress, Called, Outcome } from './chain.tsx';

export const transaction: ConsolePage = {
  path: '/chain/transactions/:hash',
  async view(visit) {
    const shown = await answerOf(visit, showTransaction, { path: { hash: visit.params.hash ?? '' } });
    return {
      title: `Transaction ${shown.hash.slice(0, 10)}…`,
      body: (
        <>
          <Section title="What became of it" live="transaction">
            <TransactionFacts of={shown} nowMs={visit.nowMs} />
          </Section>
          <Section title="Called with">
            <Arguments of={shown.args} />
          </Section>
          {shown.payouts.count > 0 && (
            <Section title="Rewards in it">
              <Payouts of={shown.payouts} />
            </Section>
          )}
          <Section title="Logs" live="logs">
            <Logs of={shown.logs} />
          </Section>
          <Command text={shellLine`rewards chain transaction ${shown.hash}`} />
        </>
      ),
    };
  },
};

const TransactionFacts = ({ of, nowMs }: { of: ChainTransaction; nowMs: number }): Child => (
  <Facts
    of={[
      ['state', <Outcome of={of.state} />],
      ['called', <Called of={{ ...of, payouts: of.payouts.count }} />],
      [
        'block',
        of.block === null ? (
          'none yet'
        ) : (
          <>
            <a href={blockAddress(of.block.number)}>{of.block.number}</a>,{' '}
            <ExactMoment at={of.block.at} nowMs={nowMs} />
          </>
        ),
      ],
      ['gas', of.gasUsed === null ? `at most ${of.gas}` : `${of.gasUsed} of at most ${of.gas}`],
      ['cost', of.feeWei === null ? '–' : `${coinsOfWei(of.feeWei)} of gas money`],
      ['from', <Id of={of.from} />],
      ['nonce', of.nonce],
      ['to', of.to === null ? 'a new contract' : <Id of={of.to} />],
      ['sent for', of.lane === null ? 'somebody else' : `the ${of.lane} lane`],
      [
        'by the ledger',
        of.ledger === null ? 'not of this service' : `${of.ledger.status}, ${of.ledger.outcome ?? 'open'}`,
      ],
      ['hash', <code>{of.hash}</code>],
    ]}
  />
);

const Arguments = ({ of }: { of: ChainTransaction['args'] }): Child => (
  <Table
    label="Arguments"
    columns={['argument', 'value']}
    rows={of.map(({ name, value }) => [<Text of={name} />, <Text of={value} />])}
    empty="No arguments that are known here."
  />
);

const Payouts = ({ of: { count, shown } }: { of: ChainTransaction['payouts'] }): Child => (
  <>
    <Table
      label="Rewards"
      columns={[{ name: 'number', isNumber: true }, 'brand', 'to', { name: 'RWT', isNumber: true }]}
      rows={shown.map(({ sequence, brandId, to, amount }) => [
        sequence,
        <Id of={brandId} href={pageAddress(`/brands/${brandId}`)} />,
        <Id of={to} href={pageAddress(`/users/${to}`)} />,
        amount,
      ])}
      empty="None."
    />
    {count > shown.length && <p class="quiet">{`and ${count - shown.length} more`}</p>}
  </>
);

const Logs = ({ of: { count, shown } }: { of: ChainTransaction['logs'] }): Child => (
  <>
    <Table
      label="Logs"
      columns={['event', 'says']}
      rows={shown.map(({ address, contract, event, args }) => [
        <Text of={`${contract ?? address}.${event ?? 'unknown'}`} />,
        <Text of={args.map(({ name, value }) => `${name} ${value}`).join(', ')} />,
      ])}
      empty="None yet."
    />
    {count > shown.length && <p class="quiet">{`and ${count - shown.length} more`}</p>}
  </>
);
