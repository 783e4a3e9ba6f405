// Why Holdfast does not start: one sentence with the fact and the remedy, printed without a stack trace; the process ends with code 1.
export class StartRefused extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options)
    this.name = 'StartRefused'
  }
}
