/** What each part of an event costs beside what it may cost. */

import { rounded } from '../report/statistics.ts';
import { table } from '../report/tables.ts';
import { budget, type Part, partNames } from './parts.ts';

export interface BudgetLine {
  part: Part | 'other threads' | 'together';
  what: string;
  /** Microseconds of processor time for one event. */
  cost: number;
  budget: number | null;
}

/**
 * @param spent microseconds by part
 * @param processUs what the whole process has used meanwhile, all threads
 */
export function budgetLines(
  spent: Record<Part, number>,
  { events, processUs }: { events: number; processUs: number },
): BudgetLine[] {
  const each = (microseconds: number) => rounded(microseconds / events, 3);
  const inThread = partNames.reduce((sum, name) => sum + spent[name], 0);
  const lines: BudgetLine[] = partNames.map((part) => ({
    part,
    what: budget[part].what,
    cost: each(spent[part]),
    budget: budget[part].microseconds,
  }));
  const others = Math.max(0, processUs - inThread);
  return [
    ...lines,
    {
      part: 'other threads',
      what: 'collections, fsync and names beside the main thread',
      cost: each(others),
      budget: null,
    },
    {
      part: 'together',
      what: 'with the profiler, which costs something itself',
      cost: each(inThread + others),
      budget: partNames.reduce((sum, name) => sum + budget[name].microseconds, 0),
    },
  ];
}

export const budgetCells = (lines: BudgetLine[]): string[][] =>
  lines.map(({ part, what, cost, budget: may }) => [
    part,
    what,
    String(cost),
    may === null ? '' : String(may),
  ]);

export const budgetHead = ['part', 'what', 'costs µs', 'may cost µs'];
export const budgetTable = (lines: BudgetLine[]): string => table([budgetHead, ...budgetCells(lines)]);
