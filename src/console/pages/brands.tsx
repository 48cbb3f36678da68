/** The brands: what they pay from, and whether they pay at all. */
import { type BrandSummary, listBrands } from '../../contract/control/brands.ts';
import { answerOf, type ConsolePage, pageAddress } from '../page.ts';
import { Command } from '../parts/action.tsx';
import { Section, Table } from '../parts/table.tsx';
import { Id, State, Text } from '../parts/text.tsx';

export const brands: ConsolePage = {
  path: '/brands',
  nav: 'Brands',
  async view(visit) {
    const all = (await answerOf(visit, listBrands)).brands;
    return {
      title: 'Brands',
      body: (
        <>
          <Section title="All" live="brands">
            <Table
              label="Brands"
              columns={[
                'brand',
                'domains',
                'automation',
                { name: 'left', isNumber: true },
                { name: 'promised', isNumber: true },
                'id',
              ]}
              rows={all.map(row)}
              empty="None yet: rewards brand create"
            />
          </Section>
          <Command text="rewards brand list" />
        </>
      ),
    };
  },
};

const row = ({ brandId, name, domains, automation, funds }: BrandSummary) => [
  <a href={pageAddress(`/brands/${brandId}`)}>
    <Text of={name} />
  </a>,
  <Text of={domains.join(', ')} />,
  automation ? <State is="good">on</State> : <State is="bad">off</State>,
  funds.available <= 0 ? <State is="bad">nothing</State> : `${funds.available} RWT`,
  `${funds.promised} RWT`,
  <Id of={brandId} />,
];
