import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Migrations are imported as text, as the bundler does it.
  plugins: [
    {
      name: 'sql-as-text',
      transform: (code, id) => (id.endsWith('.sql') ? `export default ${JSON.stringify(code)}` : undefined),
    },
  ],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
