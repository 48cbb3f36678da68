/** An answer as it came; `body` is its JSON, or its text when it is none. */
export interface Reply<Body = unknown> {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Body;
  rawBody: string;
}
