/** A config of Vitest for projects that have the package by a link. */

/**
 * Leaves the package to Node, as one that npm has installed; by its true path, outside of node_modules, it would be taken for
 * a source of the project, and all of it transformed. Its limits are those of our own tests: a busy machine takes more than
 * the usual five seconds for a stack.
 */
export const asInstalled = `export default {
  resolve: { preserveSymlinks: true },
  test: { testTimeout: 60_000, hookTimeout: 120_000 },
};
`;
