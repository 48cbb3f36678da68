/** Something outside the program is wrong, such as a taken port; carries the message and the fix. */
export class PreconditionError extends Error {
  override name = 'PreconditionError';
  readonly code: string;
  readonly fix: string;
  constructor(problem: { code: string; message: string; fix: string }) {
    super(problem.message);
    this.code = problem.code;
    this.fix = problem.fix;
  }
}
