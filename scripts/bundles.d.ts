/** What tests need of bundles.js. */
export const textFiles: Record<string, 'text'>;
