// What package-lock.json must say of each package: where it is from, and the hash of it.
const REGISTRY = 'https://registry.npmjs.org/';

/** A package's name: the last folder of its place, unless the entry says that it is installed under another one. */
export const nameOf = (where, { name }) => name ?? where.slice(where.lastIndexOf('node_modules/') + 13);

/** Where npm's public registry has a version; some machines reach it by a mirror, which is nobody else's. */
export const addressOf = (name, version) =>
  `${REGISTRY}${name}/-/${name.slice(name.lastIndexOf('/') + 1)}-${version}.tgz`;

/** Each package of a lock file that could be replaced unnoticed, as a sentence. */
export function lockfileProblems({ packages }) {
  return Object.entries(packages).flatMap(([where, entry]) => {
    if (where === '' || entry.link) return [];
    const { integrity, resolved } = entry;
    const problems = [];
    if (!integrity) problems.push(`${where} has no integrity`);
    else if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
      problems.push(`${where} has an integrity other than sha512`);
    if (!resolved) problems.push(`${where} has no resolved`);
    else if (resolved !== addressOf(nameOf(where, entry), entry.version))
      problems.push(`${where} is resolved to ${resolved}, not to its version at ${REGISTRY}`);
    return problems;
  });
}
