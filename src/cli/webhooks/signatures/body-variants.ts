/** What parsers, editors and proxies make of a body on its way. */

/** Other writings of a body, each with what must have happened to it if the signature fits that one. */
export function* bodyVariants(text: string): Generator<[variant: string, what: string]> {
  const bare = text.replace(/^\uFEFF/, '');
  if (bare !== text) yield [bare, 'a byte order mark came before it'];
  else yield [`\uFEFF${text}`, 'its byte order mark was taken off'];
  yield* lineEnds(text);
  const json = parsed(bare);
  if (json === undefined) return;
  for (const [written, what] of serialised(json)) {
    if (written === text) continue;
    yield [written, what];
    yield [`${written}\n`, `${what}, and its last newline was dropped`];
  }
}

function* lineEnds(text: string): Generator<[string, string]> {
  if (/\r?\n$/.test(text)) yield [text.replace(/\r?\n$/, ''), 'a newline was added at its end'];
  else yield* [[`${text}\n`, 'the newline at its end was dropped'] as [string, string]];
  if (text.trim() !== text) yield [text.trim(), 'white space was added around it'];
  if (text.includes('\r\n')) yield [text.replaceAll('\r\n', '\n'), 'its line ends became CRLF'];
  else if (text.includes('\n')) yield [text.replaceAll('\n', '\r\n'), 'its line ends were CRLF'];
}

/** The JSON as the usual libraries write it. */
function* serialised(json: unknown): Generator<[string, string]> {
  const forms: [string, string][] = [
    [JSON.stringify(json), 'the sender’s had no white space between its fields'],
    [JSON.stringify(json, null, 2), 'the sender’s was indented by two spaces'],
    [JSON.stringify(json, null, 4), 'the sender’s was indented by four spaces'],
    [spaced(json), 'the sender’s had a space after each comma and colon'],
  ];
  for (const [written, what] of forms) {
    yield [written, `its JSON was parsed and written again; ${what}`];
    const ascii = escaped(written);
    if (ascii !== written)
      yield [ascii, `its JSON was parsed and written again; ${what}, other letters written as \\u…`];
  }
}

/** As Python's json.dumps writes it. */
function spaced(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(spaced).join(', ')}]`;
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  const fields = Object.entries(json).map(([name, value]) => `${JSON.stringify(name)}: ${spaced(value)}`);
  return `{${fields.join(', ')}}`;
}

const escaped = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
