/** A plot, and beside it the same as a table for those who read. */
import { raw } from 'hono/html';
import type { Child, FC } from 'hono/jsx';
import { type FramedPlot, framedPlot } from '../../lib/plots/framed-plot.ts';
import { Table } from './table.tsx';

interface PlotProps {
  of: FramedPlot;
  /** The classes of its inside, with their names. */
  kinds?: Readonly<Record<string, string>>;
  columns: readonly string[];
  rows: readonly (readonly (string | number)[])[];
}

export const Plot: FC<PlotProps> = ({ of, kinds = {}, columns, rows }) => (
  <figure class="plot">
    <figcaption>
      {`${of.y.label}, by ${of.x.label}`}
      {Object.entries(kinds).map(
        ([kind, name]): Child => (
          <span class={`key ${kind}`}>{name}</span>
        ),
      )}
    </figcaption>
    {raw(framedPlot(of))}
    <details>
      <summary>As a table</summary>
      <Table
        label={`${of.title}, as a table`}
        columns={columns.map((name, place) => ({ name, isNumber: place > 0 }))}
        rows={rows}
        empty="Nothing."
      />
    </details>
  </figure>
);
