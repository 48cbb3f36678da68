/** Variables that name a setting of serve without `DEV_`: `rewards start` reads them, and serve does not. */
import type { Environment } from '../../compose/env.ts';
import { namesOf } from '../../lib/setting.ts';
import { CliError } from '../machine/errors.ts';
import { serveSettings } from '../run/serve-settings.ts';

/** Whoever sets one of these may believe that serve uses this database. */
const OF_PRODUCTION = ['REWARDS_DATABASE_URL', 'REWARDS_DATABASE_URL_FILE'];

/**
 * Throws E_USAGE in a shell that names production's database, unless `options` or a variable of serve name its own;
 * returns a note for each other variable that looks like one of serve's.
 */
export function oldVariables(env: Environment, options: { databaseUrl?: string | undefined }): string[] {
  const ofProduction = OF_PRODUCTION.find((name) => env[name] !== undefined);
  if (ofProduction && options.databaseUrl === undefined) {
    throw new CliError('E_USAGE', {
      message: `${ofProduction} is a setting of \`rewards start\`; \`rewards serve\` does not use that database.`,
      fix: `Unset it for this command (\`env -u ${ofProduction} rewards serve\`); to use a database of your own, set REWARDS_DEV_DATABASE_URL.`,
      details: { variable: ofProduction, instead: 'REWARDS_DEV_DATABASE_URL' },
    });
  }
  return serveSettings.flatMap((row) => {
    const { variable } = namesOf(row);
    const old = variable.replace('REWARDS_DEV_', 'REWARDS_');
    const isMeant = env[old] !== undefined && env[variable] === undefined && !OF_PRODUCTION.includes(old);
    return isMeant ? [`${old} is not a variable of serve; it reads ${variable}`] : [];
  });
}
