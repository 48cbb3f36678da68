/** A JSON object that nothing more is known of. */
export type JsonObject = Record<string, unknown>;
