// The engine behind the page: requests go out by a WebSocket, answers come back by their number.

export class Engine {
  constructor(receive, status) {
    this.receive = receive;
    this.status = status;
    this.next = 1;
    this.latest = {}; // the number of the last request of each kind: older answers are dropped
    this.open();
  }

  open() {
    const address = new URL("socket", location.href);
    address.protocol = "ws:";
    address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.onmessage = (event) => this.take(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.status("The server has stopped; start `tacit lab` again.", true);
    };
  }

  take(message) {
    if (message.is !== "hello" && message.id !== this.latest[this.kindOf(message.id)]) return;
    this.receive(message, this.kindOf(message.id));
  }

  kindOf(id) {
    return Object.keys(this.latest).find((kind) => this.latest[kind] === id);
  }

  ask(kind, fields = {}) {
    const id = this.next++;
    this.latest[kind] = id;
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id, do: kind, ...fields }));
    return id;
  }

  /** Answers to a request of this kind that are still on their way no longer count. */
  forget(kind) {
    delete this.latest[kind];
  }
}
