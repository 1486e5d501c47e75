/** Shows a command line so that it can be read, quoting only what needs it. */
export function commandLine(command: string, args: readonly string[] = []): string {
  return [command, ...args].map(quote).join(" ");
}

function quote(word: string): string {
  if (word === "") return '""';
  if (!/[\s"'\\$`|&;<>(){}*?!#~]/.test(word)) return word;
  return `"${word.replace(/(["\\$`])/g, "\\$1")}"`;
}
