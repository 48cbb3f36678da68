/** The pages that `rewards open` opens. */
export const pages = ['control', 'site', 'docs', 'checkout'] as const;
export type Page = (typeof pages)[number];
