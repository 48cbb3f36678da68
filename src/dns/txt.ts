/** The port to DNS: the TXT records of a name. */
export interface TxtResolver {
  /** Each record as one text; none when the name has none. Rejects when DNS gives no answer. */
  txtRecords(name: string): Promise<string[]>;
}
