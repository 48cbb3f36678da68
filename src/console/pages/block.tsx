/** One block: its time and gas, and what its transactions call. */
import { showBlock } from '../../contract/control/chain.ts';
import { coinsOfWei } from '../../lib/gas-money.ts';
import { shellLine } from '../../lib/text/shell-quoted.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { ExactMoment } from '../parts/moment.tsx';
import { Facts, Section } from '../parts/table.tsx';
import { Blocks, blockAddress, blockNumberOf } from './chain.tsx';

const SHOWN = 100;

export const block: ConsolePage = {
  path: '/chain/blocks/:number',
  async view(visit) {
    const number = blockNumberOf(visit.params.number ?? '');
    const from = visit.query.from ? blockNumberOf(visit.query.from) : 0;
    const { head, ...shown } = await answerOf(visit, showBlock, {
      path: { block: String(number) },
      query: { from, limit: SHOWN },
    });
    const next = from + shown.transactions.length;
    return {
      title: `Block ${number}`,
      body: (
        <>
          <Section title="The block" live="block">
            <Facts
              of={[
                ['at', <ExactMoment at={shown.at} nowMs={visit.nowMs} />],
                ['transactions', shown.count],
                ['gas', shown.gasUsed],
                ['base fee', `${coinsOfWei(shown.baseFeeWei)} for each gas`],
                ['hash', <code>{shown.hash}</code>],
                ['before it', number === 0 ? 'none' : <a href={blockAddress(number - 1)}>{number - 1}</a>],
                [
                  'after it',
                  number >= head ? 'none yet' : <a href={blockAddress(number + 1)}>{number + 1}</a>,
                ],
              ]}
            />
          </Section>
          <Section title={from === 0 ? 'What it calls' : `What it calls, from the ${from + 1}. on`}>
            <Blocks
              of={[
                {
                  ...shown,
                  count: from > 0 && next >= shown.count ? shown.transactions.length : shown.count - from,
                },
              ]}
              nowMs={visit.nowMs}
              more={
                next < shown.count
                  ? { href: pageAddress(`/chain/blocks/${number}`, { from: String(next) }) }
                  : undefined
              }
            />
          </Section>
          <Command text={shellLine`rewards chain block ${number}`} />
        </>
      ),
    };
  },
};
