/** An answer as it came; `body` is its parsed JSON, or its text when it is not JSON. */
export interface Reply<Body = unknown> {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Body;
  rawBody: string;
}
