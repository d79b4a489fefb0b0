# The local receiver in a container; built from the repository's root by airflow.yml. Checked by reading, not built.
FROM python:3.12-slim
COPY . /source
RUN pip install --no-cache-dir '/source[receiver]' && rm -rf /source && useradd --create-home receiver \
    && mkdir /data && chown receiver /data
USER receiver
VOLUME /data
EXPOSE 8765
ENTRYPOINT ["truewatch-lineage"]
CMD ["receive", "--host", "0.0.0.0", "--no-token", "--data", "/data/events.sqlite"]
