/** The package's own package.json. */
import packageJson from '../../../package.json' with { type: 'json' };

export const manifest = { version: packageJson.version, description: packageJson.description };
