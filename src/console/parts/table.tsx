/** Tables and lists of facts, which scroll within themselves where a screen is narrow. */
import type { Child, FC } from 'hono/jsx';
import type { MoreRows } from '../page.ts';

interface Column {
  name: string;
  /** Numbers line up at their end. */
  isNumber?: boolean;
}

interface TableProps {
  /** What it is a table of, for screen readers and as its heading of rows. */
  label: string;
  columns: readonly (string | Column)[];
  rows: readonly (readonly Child[])[];
  /** What stands in its place when there is no row. */
  empty: Child;
  /** Where rows that are not shown can be seen. */
  more?: MoreRows | undefined;
}

export const Table: FC<TableProps> = ({ label, columns, rows, empty, more }) => {
  if (rows.length === 0) return <p class="quiet">{empty}</p>;
  const all = columns.map((one) => (typeof one === 'string' ? { name: one } : one));
  const classOf = (place: number) => (all[place]?.isNumber ? 'number' : undefined);
  return (
    <>
      {/* It scrolls within itself, so the keyboard has to reach it. */}
      <section class="scroll" tabindex={0} aria-label={label}>
        <table>
          <thead>
            <tr>
              {all.map(({ name }, place) => (
                <th scope="col" class={classOf(place)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells) => (
              <tr>
                {cells.map((cell, place) => (
                  <td class={classOf(place)}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more && <More {...more} />}
    </>
  );
};

const More: FC<MoreRows> = ({ count, href, note, label = 'Show more' }) =>
  href === undefined ? (
    <p class="quiet">{note}</p>
  ) : (
    <p>
      <a href={href}>{count === undefined ? label : `${label} (${count} in all)`}</a>
    </p>
  );

/** Names and what they are, one below the other. */
export const Facts: FC<{ of: readonly (readonly [name: string, value: Child])[] }> = ({ of }) => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <div>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

/** A part of a page with its heading. With an id it is fetched again when something has happened. */
export const Section: FC<{ title: string; live?: string; children?: Child }> = ({
  title,
  live,
  children,
}) => (
  <section id={live} data-live={live === undefined ? undefined : ''}>
    <h2>{title}</h2>
    {children}
  </section>
);
