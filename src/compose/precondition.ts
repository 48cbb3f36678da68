/** Something outside the program is not as it must be: said once, with the way to mend it. */
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
