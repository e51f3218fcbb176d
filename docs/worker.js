// Search without a server: browsers start no workers from files, so a hidden frame does a worker's work.
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe"), waiting = [];
    frame.hidden = true;
    document.body.append(frame);
    const inside = frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inside.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => new Promise((done) => {
      const script = inside.document.createElement("script");
      Object.assign(script, { src: each, onload: done, onerror: done });
      inside.document.body.append(script);
    })), Promise.resolve());
    this.send = (data) => waiting.push(data);
    inside.importScripts(url).then(() => {
      this.send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      waiting.forEach(this.send);
    });
  }
  postMessage(data) { this.send(data); }
  terminate() {}
};
