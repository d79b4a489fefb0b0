const token = localStorage.getItem("token");
if (token) {
  fetch(location.href, { headers: { Authorization: `Bearer ${token}` } }).then(async (answer) => {
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    document.title = page.title;
    document.body.replaceWith(page.body);
  });
}
