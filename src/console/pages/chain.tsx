/** The chain: contracts, what our accounts own, and blocks with what they call. */
import type { Child } from 'hono/jsx';
import { type BlockList, type ChainState, listBlocks, showChain } from '../../contract/control/chain.ts';
import { coinsOfWei } from '../../lib/gas-money.ts';
import { counted } from '../../lib/text/counted.ts';
import { shellOptions } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, PageRefusal, pageAddress } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { Moment } from '../parts/moment.tsx';
import { Facts, Section, Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';

const SHOWN = 20;

export const transactionAddress = (hash: string) => pageAddress(`/chain/transactions/${hash}`);
export const blockAddress = (number: number) => pageAddress(`/chain/blocks/${number}`);

/** The number of a block in an address. Throws a `PageRefusal` where it is none; 15 digits are whole in a number. */
export function blockNumberOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new PageRefusal(400, 'The address must name the number of a block, a whole number such as 12.');
}

export const chain: ConsolePage = {
  path: '/chain',
  nav: 'Chain',
  async view(visit) {
    const before = visit.query.before ? blockNumberOf(visit.query.before) : undefined;
    const [state, { blocks }] = await Promise.all([
      answerOf(visit, showChain),
      answerOf(visit, listBlocks, { query: { limit: SHOWN, before } }),
    ]);
    return {
      title: 'Chain',
      body: (
        <>
          <Section title="RWT and contracts" live="chain-state">
            <ChainFacts of={state} />
          </Section>
          <Section title="Accounts that the service sends from" live="accounts">
            <Accounts of={state.accounts} />
          </Section>
          <Section title={before === undefined ? 'Newest blocks' : `Blocks before ${before}`} live="blocks">
            {before !== undefined && (
              <p>
                <a href={pageAddress('/chain')}>Newest blocks</a>
              </p>
            )}
            <Blocks of={blocks} nowMs={visit.nowMs} more={olderThan(blocks)} />
          </Section>
          <Command text={`rewards chain blocks${shellOptions({ before: before?.toString() })}`} />
        </>
      ),
    };
  },
};

const ChainFacts = ({ of: { chainId, head, contracts, token } }: { of: ChainState }): Child => (
  <>
    <Facts
      of={[
        ['chain', chainId],
        ['newest block', head === null ? 'none yet' : head.number],
        ['RWT on chain', token.supply],
        ['of that in escrow', token.escrowed],
        ['minted by the ledger', token.ledgerMinted],
        ['rewarded', token.ledgerRewarded],
        ...contracts.map(({ name, address }): [string, Child] => [name, <Id of={address} />]),
      ]}
    />
    <Command text="rewards verify" />
  </>
);

const Accounts = ({ of }: { of: ChainState['accounts'] }): Child => (
  <Table
    label="Accounts"
    columns={['account', 'is', { name: 'gas money', isNumber: true }, { name: 'RWT', isNumber: true }]}
    rows={of.map(({ address, is, wei, rwt }) => [
      <Id of={address} />,
      <Text of={is} />,
      wei === '0' ? <State is="bad">none</State> : coinsOfWei(wei),
      rwt,
    ])}
    empty="It sends from none."
  />
);

const olderThan = (blocks: BlockList['blocks']): { href: string } | undefined => {
  const last = blocks.at(-1)?.number ?? 0;
  return last === 0 ? undefined : { href: pageAddress('/chain', { before: String(last) }) };
};

interface BlocksProps {
  of: BlockList['blocks'];
  nowMs: number;
  more?: { href: string } | undefined;
}

/** One row a transaction; an empty block has a row of its own. */
export const Blocks = ({ of, nowMs, more }: BlocksProps): Child => (
  <Table
    label="Blocks"
    columns={['block', 'when', 'called', 'state', { name: 'gas', isNumber: true }, 'for', 'transaction']}
    rows={of.flatMap(({ number, at, count, transactions }) => {
      const block = <a href={blockAddress(number)}>{number}</a>;
      const when = <Moment at={at} nowMs={nowMs} />;
      return [
        ...transactions.map((one, place) => [
          place === 0 ? block : '',
          place === 0 ? when : '',
          <Called of={one} />,
          <Outcome of={one.state} />,
          one.gasUsed ?? '–',
          one.lane === null ? 'somebody else' : `the ${one.lane} lane`,
          <Id of={one.hash} href={transactionAddress(one.hash)} />,
        ]),
        ...(count === 0 ? [[block, when, 'nothing', '', '', '', '']] : []),
        ...(count > transactions.length
          ? [['', '', `and ${count - transactions.length} more`, '', '', '', '']]
          : []),
      ];
    })}
    empty="No block yet."
    more={more}
  />
);

type CalledRow = Pick<
  BlockList['blocks'][number]['transactions'][number],
  'contract' | 'call' | 'to' | 'payouts'
>;

/** `escrow.payBatch, 3 rewards`. */
export const Called = ({ of: { contract, call, to, payouts } }: { of: CalledRow }): Child => (
  <>
    {contract === null ? (
      to === null ? (
        'a new contract'
      ) : (
        <Id of={to} />
      )
    ) : (
      <Text of={`${contract}.${call?.split('(')[0] ?? 'unknown'}`} />
    )}
    {payouts > 0 && `, ${counted(payouts, 'reward')}`}
  </>
);

export const Outcome = ({ of }: { of: 'waiting' | 'done' | 'reverted' }): Child => (
  <State is={of === 'done' ? 'good' : of === 'reverted' ? 'bad' : 'waiting'}>{of}</State>
);
