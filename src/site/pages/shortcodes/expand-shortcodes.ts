/** Finds shortcodes in markup and puts in their place what they show. Contract: Shortcodes. */
import type { Plugin } from '../../plugin/plugin.ts';
import { type Html, trusted } from '../html.ts';
import type { Visit } from '../visit.ts';
import { drawShortcode, type ShortcodeName, shortcodeNames } from './draw-shortcode.ts';
import type { Parameters } from './shortcode-parameters.ts';

/** Each asks the service: a page has what it needs, and costs what it may. */
const SHORTCODES_MAX = 20;

const NAMES = shortcodeNames.join('|');
/** A shortcode, with the paragraph that an editor puts around one; two brackets show it instead of what it stands for. */
const SHORTCODE = new RegExp(
  `(?<open><p>\\s*)?(?<double>\\[)?\\[rewards_(?<name>${NAMES})(?<given>(?:\\s[^\\]<>]{0,300})?)\\](?<close>\\](?:\\s*</p>)?|\\s*</p>)?`,
  'g',
);
/** Where text is shown as it stands, and what is inside of tags. */
const VERBATIM =
  /(<(pre|code|script|style|textarea)\b[\s\S]*?<\/\2\s*>|<!--[\s\S]*?-->|<(?!\/?p>)[a-z/][^>]*>)/gi;
const PARAMETER = /([a-z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))/gi;

interface Found {
  name: ShortcodeName;
  given: Parameters;
}

/** `markup` is HTML that may be shown as it is: of a post's body, or of a host site's page. */
export async function expandShortcodes(plugin: Plugin, visit: Visit, markup: string): Promise<Html> {
  const found: Found[] = [];
  const marked = markup.split(VERBATIM).map((part, index) => {
    // A split by two groups gives text, the verbatim part, and the name of its element.
    if (index % 3 === 2) return [];
    if (index % 3 === 1) return [part];
    return piecesOf(part, found);
  });
  const drawn = await Promise.all(
    found.map(({ name, given }, index) => {
      const nth = found.slice(0, index).filter((other) => other.name === name).length;
      const id = nth === 0 ? `rewards-${name}` : `rewards-${name}-${nth + 1}`;
      return drawShortcode(plugin, { visit, id, name, given });
    }),
  );
  const text = marked
    .flat()
    .map((piece) => (typeof piece === 'number' ? String(drawn[piece]) : piece))
    .join('');
  return trusted(text);
}

/** The text around shortcodes as it stands, and numbers of `found` in place of shortcodes. */
function piecesOf(text: string, found: Found[]): (string | number)[] {
  const pieces: (string | number)[] = [];
  let at = 0;
  for (const match of text.matchAll(SHORTCODE)) {
    const { open = '', double, name, given = '', close = '' } = match.groups ?? {};
    pieces.push(text.slice(at, match.index));
    at = match.index + match[0].length;
    if (double && close.startsWith(']')) {
      pieces.push(match[0].replace('[[', '[').replace(']]', ']'));
    } else if (found.length >= SHORTCODES_MAX) {
      pieces.push(match[0]);
    } else {
      const isWhole = open !== '' && close.includes('</p>');
      pieces.push(isWhole ? '' : open + (double ?? ''));
      pieces.push(found.push({ name: name as ShortcodeName, given: parametersOf(given) }) - 1);
      pieces.push(isWhole ? '' : close);
    }
  }
  pieces.push(text.slice(at));
  return pieces;
}

const parametersOf = (given: string): Parameters =>
  Object.fromEntries(
    [...given.replaceAll('&quot;', '"').replaceAll('&#39;', "'").matchAll(PARAMETER)].map(
      ([, name = '', double, single, bare]) => [name.toLowerCase(), double ?? single ?? bare ?? ''],
    ),
  );
