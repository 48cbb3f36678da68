#!/usr/bin/env node
import('../dist/main.js').catch((error) => {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND' || !String(error.message).includes('dist')) throw error;
  process.stderr.write(
    'rewards: the program is not built yet\n  fix: run `npm run build` in the project directory\n',
  );
  process.exitCode = 5;
});
