/** What is wrong with the input of a step, in words. */
import type { z } from 'zod';

/** `advance must be a duration such as 61s`, one for each problem. */
export const inputProblems = (
  issues: readonly z.core.$ZodIssue[],
  above: readonly PropertyKey[] = [],
): string[] =>
  issues.flatMap((issue) => {
    const path = [...above, ...issue.path];
    // Of a value or a variable, the value is what was meant.
    const [first] = issue.code === 'invalid_union' ? issue.errors : [];
    if (first && first.length > 0) return inputProblems(first, path);
    return [[path.map(String).join('.'), issue.message].filter(Boolean).join(' ')];
  });
