interface Chooser {
  RpcChooseFile?(title: string): Promise<string>;
  RpcChooseFolder?(title: string): Promise<string>;
}

function chooser(): Chooser | undefined {
  return (window as unknown as { go?: { main?: { App?: Chooser } } }).go?.main?.App;
}

/** Says whether the system's own dialogs for files are at hand; in a browser they tell no paths. */
export function canChoose(): boolean {
  return chooser()?.RpcChooseFile !== undefined;
}

/** The path of a file that the person chose; "" for none. */
export async function chooseFile(title: string): Promise<string> {
  return (await chooser()?.RpcChooseFile?.(title)) ?? "";
}

/** The path of a folder that the person chose; "" for none. */
export async function chooseFolder(title: string): Promise<string> {
  return (await chooser()?.RpcChooseFolder?.(title)) ?? "";
}
