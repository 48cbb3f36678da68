/** What a test needs beside the library, written into its file where it is used. */

export type HelperName =
  | 'repeated'
  | 'statuses'
  | 'hex'
  | 'environment'
  | 'later'
  | 'accounts'
  | 'vars'
  | 'seen';

/** Functions below the test. */
export const helpers: Partial<Record<HelperName, string>> = {
  repeated: `/** Does it so many times, \`atOnce\` of them at the same time; \`repeat\` counts from 1. */
async function repeated<Result>(
  times: number,
  atOnce: number,
  once: (repeat: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async () => {
    while (next < times) {
      const place = next++;
      results[place] = await once(place + 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, worker));
  return results;
}`,
  statuses: `/** How many answers have each status. */
function statuses(answers: { status: number }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}`,
  hex: `/** Random bytes as hex digits. */
function hex(bytes: number): string {
  const all = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(all, (one) => one.toString(16).padStart(2, '0')).join('');
}`,
  environment: `/** An environment variable, which must be set. */
function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(\`\${name} is not set\`);
  return value;
}`,
};

/** Values at the beginning of the test. */
export const values: Partial<Record<HelperName, string>> = {
  accounts: 'const accounts = Object.fromEntries(stack.users.map((user) => [user.login, user]));',
  later:
    'const later = async (ms: number) => new Date((await stack.clock.now()).getTime() + ms).toISOString();',
  seen: 'const seen: Record<string, any> = {};',
};
