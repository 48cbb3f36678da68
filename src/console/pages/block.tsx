/** One block: its time and gas, and what its transactions call. */
import { listBlocks } from '../../contract/control/chain.ts';
import { coinsOfWei } from '../../lib/gas-money.ts';
import { answerOf, type ConsolePage, PageRefusal } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { ExactMoment } from '../parts/moment.tsx';
import { Facts, Section } from '../parts/table.tsx';
import { Blocks, blockAddress, blockNumberOf } from './chain.tsx';

export const block: ConsolePage = {
  path: '/chain/blocks/:number',
  async view(visit) {
    const number = blockNumberOf(visit.params.number ?? '');
    const { head, blocks } = await answerOf(visit, listBlocks, { query: { limit: 1, before: number + 1 } });
    const [shown] = blocks;
    // Past the newest block the list begins with the newest.
    if (shown?.number !== number) {
      throw new PageRefusal(404, `There is no block ${number} yet: the newest is ${head}.`);
    }
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
          <Section title="What it calls">
            <Blocks of={blocks} nowMs={visit.nowMs} />
          </Section>
          <Command text={`rewards chain blocks --before ${number + 1} --limit 1`} />
        </>
      ),
    };
  },
};
